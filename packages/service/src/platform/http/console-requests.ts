import type { IncomingMessage } from 'node:http';

/** Prefix of requests from the console's pages: they have a session cookie instead of a key. */
const CONSOLE_PREFIX = '/api/';
/** The console reaches the whole API below it: `/api/v1/me` is `/v1/me`. */
const API_PREFIXES = ['/api/v1/', '/api/admin/v1/'];

const consoleRequests = new WeakSet<IncomingMessage>();

/** Returns the path by which a request is routed. Remembers which requests came from the console. */
export function routedUrl(request: IncomingMessage): string {
  const url = request.url ?? '/';
  if (!url.startsWith(CONSOLE_PREFIX)) return url;
  consoleRequests.add(request);
  return API_PREFIXES.some((prefix) => url.startsWith(prefix)) ? url.slice(CONSOLE_PREFIX.length - 1) : url;
}

export function isConsoleRequest(request: IncomingMessage): boolean {
  return consoleRequests.has(request);
}
