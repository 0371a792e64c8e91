import type { Warning } from '@tollgate/contract';

/** A refused request: what the service said, for people and for code. */
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
/** A wrong key at the sign-in is no session that ended. */
export const SESSION_PATH = '/session';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface RequestOptions {
  readonly body?: unknown;
  /** In place of `body`: JSON that is text already, sent as it stands, so that numbers keep every digit. */
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

let csrfToken = '';

/** The token that changes carry; it comes with the session. */
export function rememberCsrfToken(token: string): void {
  csrfToken = token;
}

let tellUnauthenticated = (): void => {};

/** Has `listener` called whenever the service does not know any more who asks. @returns ends that */
export function onUnauthenticated(listener: () => void): () => void {
  tellUnauthenticated = listener;
  return () => {
    tellUnauthenticated = () => {};
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
 * Asks the service, as whoever is signed in. `path` is below `/api`: `/v1/me`, `/session`.
 * @throws ApiFailure for every answer that is not a success, and when there is no answer (`status` 0)
 */
export async function request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  const text = await response.text();
  if (!response.ok) throw failureOf(response.status, text);
  const answer = text === '' ? undefined : JSON.parse(text);
  if (method === 'DELETE') noteWarnings([]);
  // A response without such a list, to a rules test or a publication, leaves the warnings in place.
  else if (method !== 'GET' && !QUERY_PATH.test(path) && answer?.warnings !== undefined)
    noteWarnings(answer.warnings);
  return answer as T;
}

/** As `request`, for answers that are files or do not end: nothing but the head is read. */
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
    if (response.status === UNAUTHENTICATED && path !== SESSION_PATH) tellUnauthenticated();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFailure(0, 'unreachable', 'The service cannot be reached. Is it running?');
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
    return new ApiFailure(status, 'unexpected', `The service answered with status ${status}.`);
  }
}

/** A path with its query: what is undefined or empty is left out, each value of a list is a parameter of its own. */
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
