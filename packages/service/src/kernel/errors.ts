import { ERRORS, type ErrorCode, type ErrorDetail } from '@tollgate/contract';

/** Upper bound of the findings that one error lists. */
export const ERROR_DETAILS_MAX = 20;

export interface DomainErrorOptions {
  /** Replaces the registry's message. Callers see it, so it never names internals. */
  readonly message?: string;
  readonly details?: readonly ErrorDetail[];
  /** The wrong field is in the body, not in the path: the registry gives some codes another status then. */
  readonly inBody?: boolean;
  /** After this many seconds a retry makes sense. */
  readonly retryAfterS?: number;
  /** The internal error behind this one: logged, never sent. */
  readonly cause?: unknown;
}

/** An error of the contract's registry that any code may throw. `platform/http` turns it into a status and a body. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly details: readonly ErrorDetail[] | undefined;
  readonly inBody: boolean;
  readonly retryAfterS: number | undefined;

  constructor(
    readonly code: ErrorCode,
    options: DomainErrorOptions = {},
  ) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.details = options.details?.slice(0, ERROR_DETAILS_MAX);
    this.inBody = options.inBody === true;
    this.retryAfterS = options.retryAfterS;
  }
}

/** Returns `invalid_request` that names the first of the findings and lists them. */
export function invalidBy(details: readonly ErrorDetail[]): DomainError {
  const [first] = details;
  if (first === undefined) return new DomainError('invalid_request', { details });
  const sentence = first.path === '' ? first.message : `${first.path}: ${first.message}`;
  return new DomainError('invalid_request', { message: `The request is not valid: ${sentence}.`, details });
}

/** @throws DomainError `invalid_request` about the findings, if there are any */
export function refuseInvalid(details: readonly ErrorDetail[]): void {
  if (details.length > 0) throw invalidBy(details);
}

/** Returns `invalid_request` about one place of the request. */
export function invalidRequest(path: string, message: string): DomainError {
  return invalidBy([{ path, message }]);
}
