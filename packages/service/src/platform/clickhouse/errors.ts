import { ClickHouseUnavailableError } from './port.js';

/** Errors after which the same work may succeed later, by the server's names. */
const UNAVAILABLE_TYPES = new Set([
  'MEMORY_LIMIT_EXCEEDED',
  'NETWORK_ERROR',
  'NOT_ENOUGH_SPACE',
  'QUERY_WAS_CANCELLED',
  'SOCKET_TIMEOUT',
  'TABLE_IS_READ_ONLY',
  'TIMEOUT_EXCEEDED',
  'TOO_MANY_PARTS',
  'TOO_MANY_ROWS_OR_BYTES',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
]);
const UNAVAILABLE_SYSTEM_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
/** Messages of the client about a connection, which have no code. */
const UNAVAILABLE_MESSAGES = /^(Timeout error|socket hang up)/i;

/** Whether ClickHouse is unreachable or overloaded: the caller gets `store_unavailable`, and may try again. */
export function isClickHouseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ClickHouseUnavailableError) return true;
  if (error instanceof AggregateError) return error.errors.every(isClickHouseUnavailable);
  // Each connection throws a ClickHouseError of its own package, so the class cannot be checked.
  const { code, type } = error as { code?: unknown; type?: unknown };
  if (typeof type === 'string') return UNAVAILABLE_TYPES.has(type);
  return (
    (typeof code === 'string' && UNAVAILABLE_SYSTEM_CODES.has(code)) ||
    UNAVAILABLE_MESSAGES.test(error.message)
  );
}
