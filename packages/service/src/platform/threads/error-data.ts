import { ERRORS } from '@tollgate/contract';
import { isClickHouseUnavailable } from '../clickhouse/index.js';
import { ApiError } from '../http/errors.js';
import { isUnavailable } from '../postgres/index.js';

/** An error as it is sent between threads, where classes get lost. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ErrorData | undefined;
  /** Only of an ApiError. */
  readonly api: Pick<ApiError, 'code' | 'statusCode' | 'details' | 'retryAfterS'> | undefined;
}

/** An unavailable store is passed on as its ApiError, because other threads would not recognize the driver's error. */
export function errorToData(thrown: unknown): ErrorData {
  const error =
    isUnavailable(thrown) || isClickHouseUnavailable(thrown)
      ? new ApiError('store_unavailable', { cause: thrown })
      : thrown;
  if (!(error instanceof Error)) {
    return { name: 'Error', message: String(error), stack: undefined, cause: undefined, api: undefined };
  }
  const { name, message, stack, cause } = error;
  return {
    name,
    message,
    stack,
    cause: cause === undefined ? undefined : causeToData(cause),
    api: error instanceof ApiError ? apiPart(error) : undefined,
  };
}

function causeToData(cause: unknown): ErrorData {
  const { name, message, stack } = cause instanceof Error ? cause : new Error(String(cause));
  return { name, message, stack, cause: undefined, api: undefined };
}

function apiPart({ code, statusCode, details, retryAfterS }: ApiError): ErrorData['api'] {
  return { code, statusCode, details, retryAfterS };
}

export function errorFromData({ name, message, stack, cause, api }: ErrorData): Error {
  const options = cause === undefined ? {} : { cause: errorFromData(cause) };
  if (api !== undefined) {
    const { code, statusCode, details, retryAfterS } = api;
    return new ApiError(code, {
      ...options,
      message,
      inBody: statusCode !== ERRORS[code].status,
      ...(details === undefined ? {} : { details }),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    });
  }
  const error = new Error(message, options);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
