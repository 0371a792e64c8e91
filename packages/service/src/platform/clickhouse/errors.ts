import { tlsProblem } from '../connection-problem.js';
import { ClickHouseUnavailableError } from './port.js';

/** Errors after which the same work may succeed later, by the server's names. */
const UNAVAILABLE_TYPES = new Set([
  'ALL_CONNECTION_TRIES_FAILED',
  'KEEPER_EXCEPTION',
  'MEMORY_LIMIT_EXCEEDED',
  'NETWORK_ERROR',
  'NOT_ENOUGH_SPACE',
  'NO_ZOOKEEPER',
  'QUERY_WAS_CANCELLED',
  'SOCKET_TIMEOUT',
  'TABLE_IS_READ_ONLY',
  'TIMEOUT_EXCEEDED',
  'TOO_FEW_LIVE_REPLICAS',
  'TOO_MANY_PARTS',
  'TOO_MANY_ROWS_OR_BYTES',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'UNKNOWN_STATUS_OF_INSERT',
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

/** Returns the result of a query; undefined if it has more bytes than `resultBytesMax` allows. */
export async function unlessTooLarge<Result>(query: Promise<Result>): Promise<Result | undefined> {
  try {
    return await query;
  } catch (error) {
    if ((error as { type?: unknown }).type === 'TOO_MANY_ROWS_OR_BYTES') return undefined;
    throw error;
  }
}

/** Errors of a replica that has lost Keeper, which other replicas may still have. */
const REPLICA_LOST_TYPES = new Set(['KEEPER_EXCEPTION', 'NO_ZOOKEEPER', 'TABLE_IS_READ_ONLY']);

/** Whether another replica may do what this one could not: `at-once` if it failed without a long wait. */
export function isServerLost(error: unknown): 'no' | 'at-once' | 'timed-out' {
  if (!(error instanceof Error)) return 'no';
  const { code, type } = error as { code?: unknown; type?: unknown };
  if (typeof type === 'string') return REPLICA_LOST_TYPES.has(type) ? 'at-once' : 'no';
  if (code === 'ETIMEDOUT' || /^Timeout error/i.test(error.message)) return 'timed-out';
  return isClickHouseUnavailable(error) ? 'at-once' : 'no';
}

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
    tlsProblem(error) !== undefined ||
    UNAVAILABLE_MESSAGES.test(error.message)
  );
}
