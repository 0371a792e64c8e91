import type { Warning } from '@tollgate/contract';

/** A failed request, with the status, code, message and details of the response. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: readonly { readonly path: string; readonly message: string }[] = [],
  ) {
    super(message);
    this.name = 'ApiFailure';
  }
}

const UNAUTHENTICATED = 401;
/** A 401 for this path means a wrong key, not the end of a session. */
export const SESSION_PATH = '/session';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface RequestOptions {
  readonly body?: unknown;
  /** JSON text to send unchanged instead of `body`, so that numbers keep every digit. */
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

let csrfToken = '';

/** Stores the CSRF token of the session, which every change sends. */
export function rememberCsrfToken(token: string): void {
  csrfToken = token;
}

let notifyUnauthenticated = (): void => {};

/** Calls `listener` whenever the service rejects the session. @returns unsubscribes */
export function onUnauthenticated(listener: () => void): () => void {
  notifyUnauthenticated = listener;
  return () => {
    notifyUnauthenticated = () => {};
  };
}

let noteWarnings = (_: readonly Warning[]): void => {};

/** Calls `listener` with the warnings of each save, and with none after a deletion. @returns unsubscribes */
export function onSaved(listener: (warnings: readonly Warning[]) => void): () => void {
  noteWarnings = listener;
  return () => {
    noteWarnings = () => {};
  };
}

/** A query saves nothing; the component that shows its result also shows its warnings. */
const QUERY_PATH = /\/query$/;

/**
 * Sends a request as the signed-in user. `path` is below `/api`: `/v1/me`, `/session`.
 * @throws ApiFailure if the response is not a success or there is none (`status` 0)
 */
export async function request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  const text = await response.text();
  if (!response.ok) throw failureOf(response.status, text);
  const body = text === '' ? undefined : JSON.parse(text);
  if (method === 'DELETE') noteWarnings([]);
  // A response without such a list, to a rules test or a publication, leaves the warnings in place.
  else if (method !== 'GET' && !QUERY_PATH.test(path) && body?.warnings !== undefined)
    noteWarnings(body.warnings);
  return body as T;
}

/** Like `request`, for responses that are files or streams: the body is not read. */
export async function requestRaw(
  method: Method,
  path: string,
  options: RequestOptions = {},
): Promise<Response> {
  const response = await send(method, path, options);
  if (!response.ok) throw failureOf(response.status, await response.text());
  return response;
}

async function send(
  method: Method,
  path: string,
  { body, json, headers, signal }: RequestOptions,
): Promise<Response> {
  const sent = json ?? (body === undefined ? undefined : JSON.stringify(body));
  try {
    const response = await fetch(`/api${path}`, {
      method,
      headers: {
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'x-csrf-token': csrfToken }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.status === UNAUTHENTICATED && path !== SESSION_PATH) notifyUnauthenticated();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFailure(
      0,
      'unreachable',
      'The service cannot be reached. Check your connection and try again.',
    );
  }
}

interface ErrorBody {
  readonly error: string;
  readonly code: string;
  readonly details?: ApiFailure['details'];
}

function failureOf(status: number, text: string): ApiFailure {
  try {
    const { error, code, details } = JSON.parse(text) as ErrorBody;
    return new ApiFailure(status, code, error, details);
  } catch {
    return new ApiFailure(status, 'unexpected', `The service responded with status ${status}.`);
  }
}

/** Appends a query to a path. Undefined and empty values are left out; a list becomes repeated parameters. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== '') parameters.append(name, String(each));
    }
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}
