import pg from 'pg';
import { tlsProblem } from '../connection-problem.js';

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const UNDEFINED_TABLE = '42P01';
const INSUFFICIENT_PRIVILEGE = '42501';
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';

/** The code that triggers raise when they refuse writes of a tenant that moves to another cell. */
const TENANT_MOVING = 'TG001';

/** Server states in which the same work may succeed later: SQLSTATE codes of PostgreSQL's appendix A. */
const UNAVAILABLE_STATES = new Set([
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '25006', // read_only_sql_transaction: a standby, after a fail-over
]);
/** Class 08: connection exceptions. */
const CONNECTION_EXCEPTION = /^08[0-9A-Z]{3}$/;

/** Classes of errors about values: those of a type, of a number of rows, of a constraint, and of a limit. */
const VALUE_ERROR = /^(21|22|23|54)[0-9A-Z]{3}$/;

const UNAVAILABLE_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT', // the unix socket does not exist
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Messages of `pg`, without a code, when a connection breaks, or none becomes free or responds in time. */
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/**
 * Whether PostgreSQL is unreachable or cannot take work now: the caller gets `store_unavailable`, and may try again.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (tlsProblem(error) !== undefined) return true;
  if (typeof code === 'string') {
    if (UNAVAILABLE_STATES.has(code)) return true;
    if (CONNECTION_EXCEPTION.test(code)) return true;
    return UNAVAILABLE_SYSTEM_CODES.has(code) && (code !== 'ENOENT' || syscall === 'connect');
  }
  if (error instanceof AggregateError) return error.errors.every(isUnavailable);
  return UNAVAILABLE_MESSAGES.test(error.message);
}

/**
 * Whether the error comes from the server itself: then the statement was not executed. After any other error the
 * statement may have been executed, or may still be.
 */
export function isServerError(error: unknown): boolean {
  return error instanceof pg.DatabaseError;
}

/** Returns whether a write was refused because its tenant is moving to another cell, or has moved. */
export function isTenantMoving(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === TENANT_MOVING;
}

/** Returns whether a statement failed because of its values, so that it fails again with them. */
export function isCausedByValues(error: unknown): boolean {
  return error instanceof pg.DatabaseError && VALUE_ERROR.test(error.code ?? '');
}

/** Whether a row violates a unique constraint, or the named one. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, UNIQUE_VIOLATION, constraint);
}

/** Whether a row refers to a missing row, or is still referred to. */
export function isForeignKeyViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, FOREIGN_KEY_VIOLATION, constraint);
}

/** Returns whether a table does not exist, because the schema is of an earlier version. */
export function isMissingTable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE;
}

/** Returns whether the role of the connection lacks a right. */
export function isForbidden(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === INSUFFICIENT_PRIVILEGE;
}

/** Returns whether a statement ended because it did not get a lock: in time, or without a deadlock. */
export function isLockRefused(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED;
}

function isViolation(error: unknown, state: string, constraint: string | undefined): boolean {
  if (!(error instanceof Error)) return false;
  const violation = error as { code?: unknown; constraint?: unknown };
  return violation.code === state && (constraint === undefined || violation.constraint === constraint);
}
