import type { Me, Warning } from '@tollgate/contract';
import { TollgateClient } from '@tollgate/sdk/browser';

/** Where the service knows the session of this browser: the whole API lies below, and the session itself. */
const BASE_PATH = '/api';
/** A 401 for this path means a wrong key, not the end of a session. */
const SESSION_PATH = '/session';
const UNAUTHENTICATED = 401;
/** Longer than the service takes for any response. */
const TIMEOUT_MS = 120_000;
/** A query or a rules test saves nothing; the component that shows its result also shows its warnings. */
const QUERY_PATH = /\/query$|\/rules\/test$/;

let csrfToken = '';
let notifyUnauthenticated = (): void => {};
let noteWarnings = (_: readonly Warning[]): void => {};

/** Sends requests as the user who is signed in. Every request of the console goes through it. */
export const client = new TollgateClient({
  baseUrl: BASE_PATH,
  timeoutMs: TIMEOUT_MS,
  fetch: fetchInSession,
});

/** Calls `listener` whenever the service rejects the session. @returns unsubscribes */
export function onUnauthenticated(listener: () => void): () => void {
  notifyUnauthenticated = listener;
  return () => {
    notifyUnauthenticated = () => {};
  };
}

/** Calls `listener` with the warnings of each save, and with none after a deletion. @returns unsubscribes */
export function onSaved(listener: (warnings: readonly Warning[]) => void): () => void {
  noteWarnings = listener;
  return () => {
    noteWarnings = () => {};
  };
}

export interface Session {
  readonly csrf_token: string | null;
  /** Null if no user is signed in. */
  readonly me: Me | null;
}

/** The session of this browser. Its requests go to the console's server, all others to the API. */
export const session = {
  /** Reads the session, and keeps the token that each change must carry. */
  async read(): Promise<Session> {
    const read = await client.request<Session>('GET', SESSION_PATH);
    csrfToken = read.csrf_token ?? '';
    return read;
  },
  begin: (apiKey: string) =>
    client.request<void>('POST', SESSION_PATH, { body: JSON.stringify({ api_key: apiKey }) }),
  end: () => client.request<void>('DELETE', SESSION_PATH),
};

async function fetchInSession(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET' } = init;
  const headers = new Headers(init.headers);
  if (method !== 'GET') headers.set('x-csrf-token', csrfToken);
  const response = await fetch(input, { ...init, headers });
  if (response.status === UNAUTHENTICATED && input !== BASE_PATH + SESSION_PATH) notifyUnauthenticated();
  if (response.ok) await noteSaved(method, String(input), response);
  return response;
}

async function noteSaved(method: string, url: string, response: Response): Promise<void> {
  if (method === 'DELETE') noteWarnings([]);
  if (method === 'GET' || method === 'DELETE' || QUERY_PATH.test(url)) return;
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { readonly warnings?: readonly Warning[] } | undefined;
  // A response without such a list, to a publication for example, leaves the warnings in place.
  if (body?.warnings !== undefined) noteWarnings(body.warnings);
}
