import type { ErrorBody, ErrorCode, ErrorDetail } from '#contract';

/** The service answered, and it was not a success. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** HTTP status. */
    readonly status: number,
    /** Stable name of the error; `unknown` when the answer did not come from Tollgate (a proxy, say). */
    readonly code: ErrorCode | 'unknown',
    message: string,
    /** Where a request did not pass validation, and what was expected there. */
    readonly details: readonly ErrorDetail[],
    /** `X-Request-Id` of the answer: what an operator needs to find it. */
    readonly requestId: string | undefined,
    /** Seconds to wait before trying again, from `Retry-After`. */
    readonly retryAfterS: number | undefined,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later: nothing was accepted, or it is safe to send again. */
  get isTransient(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** No answer: the service could not be reached, or did not answer in time. It may or may not have seen the request. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** Reads an answer outside 2xx. */
export async function apiErrorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
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
