import { ERRORS, type ErrorBody } from '@tollgate/contract';
import type { DomainError } from '../../kernel/errors.js';

/** Seconds after which a client may retry a 503 that has no time of its own. */
const RETRY_AFTER_S = 1;

/** Returns the HTTP status that the contract's registry gives this error. */
export function statusOf({ code, inBody }: DomainError): number {
  const entry = ERRORS[code];
  return inBody && 'statusInBody' in entry ? entry.statusInBody : entry.status;
}

/** Returns the body of the response to this error. */
export function bodyOf({ message, code, details }: DomainError): ErrorBody {
  return details === undefined ? { error: message, code } : { error: message, code, details: [...details] };
}

/** Returns the value of `Retry-After` in seconds; undefined when the response has no such field. */
export function retryAfterSecondsOf(error: DomainError): number | undefined {
  return error.retryAfterS ?? (statusOf(error) === 503 ? RETRY_AFTER_S : undefined);
}
