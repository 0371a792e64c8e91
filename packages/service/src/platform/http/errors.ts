import { ERRORS, type ErrorBody, type ErrorCode, type ErrorDetail } from '@tollgate/contract';

/** At most this many findings are listed in one answer. */
export const ERROR_DETAILS_MAX = 20;

export interface ApiErrorOptions {
  /** Replaces the registry's message; shown to the caller, so it never names internals. */
  readonly message?: string;
  readonly details?: readonly ErrorDetail[];
  /** The body names what is at fault, and not the path: some codes have another status then. */
  readonly inBody?: boolean;
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  readonly retryAfterS?: number;
  /** What went wrong inside; logged, never sent. */
  readonly cause?: unknown;
}

/** An error with an answer: any module may throw it, and the HTTP layer sends its status and body. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly statusCode: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterS: number | undefined;

  constructor(
    readonly code: ErrorCode,
    options: ApiErrorOptions = {},
  ) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.statusCode = statusOf(code, options.inBody === true);
    this.details = options.details?.slice(0, ERROR_DETAILS_MAX);
    this.retryAfterS = options.retryAfterS ?? (this.statusCode === 503 ? 1 : undefined);
  }

  /** The body of the answer. */
  toBody(): ErrorBody {
    const body = { error: this.message, code: this.code };
    return this.details === undefined ? body : { ...body, details: [...this.details] };
  }
}

function statusOf(code: ErrorCode, inBody: boolean): number {
  const entry = ERRORS[code];
  return inBody && 'statusInBody' in entry ? entry.statusInBody : entry.status;
}

/** 400 `invalid_request` about one place of the request. */
export function invalidRequest(path: string, message: string): ApiError {
  return new ApiError('invalid_request', {
    message: `The request is not valid: ${path === '' ? message : `${path}: ${message}`}.`,
    details: [{ path, message }],
  });
}
