import type { ErrorBody, ErrorCode, ErrorDetail } from '#contract';

/** The service returned a status outside 2xx. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** HTTP status. */
    readonly status: number,
    /** Stable name of the error; `unknown` when the response came from something else, for example a proxy. */
    readonly code: ErrorCode | 'unknown',
    message: string,
    /** The fields that did not pass validation, each with the expected value. */
    readonly details: readonly ErrorDetail[] = [],
    /** `X-Request-Id` of the response; the operator can find the request by it. */
    readonly requestId?: string | undefined,
    /** Seconds to wait before trying again, from `Retry-After`. */
    readonly retryAfterS?: number | undefined,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later: nothing was accepted, or it is safe to send again. */
  get isTransient(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** No response: the service could not be reached, or took too long. It may have processed the request. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** Creates an error from a response outside 2xx, and the text of its body. */
export function apiErrorOf(response: Response, text: string): ApiError {
  const body = errorBodyOf(text);
  const retryAfter = response.headers.get('retry-after');
  return new ApiError(
    response.status,
    body?.code ?? 'unknown',
    body?.error ?? `HTTP ${response.status} ${response.statusText}`.trim(),
    body?.details ?? [],
    response.headers.get('x-request-id') ?? undefined,
    retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
  );
}

function errorBodyOf(text: string): ErrorBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    return typeof body?.error === 'string' && typeof body.code === 'string' ? (body as ErrorBody) : undefined;
  } catch {
    return undefined;
  }
}
