import { DomainError } from '../../kernel/errors.js';
import { isClickHouseUnavailable } from '../clickhouse/index.js';
import { isUnavailable } from '../postgres/index.js';

/** An error as it is sent between threads, where classes get lost. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ErrorData | undefined;
  /** Set for a DomainError only. */
  readonly domain: Pick<DomainError, 'code' | 'inBody' | 'details' | 'retryAfterS'> | undefined;
}

/**
 * Converts an error. An unavailable store becomes its DomainError here, because other threads would not recognize the
 * driver's error.
 */
export function errorToData(thrown: unknown): ErrorData {
  const error =
    isUnavailable(thrown) || isClickHouseUnavailable(thrown)
      ? new DomainError('store_unavailable', { cause: thrown })
      : thrown;
  if (!(error instanceof Error)) {
    return { name: 'Error', message: String(error), stack: undefined, cause: undefined, domain: undefined };
  }
  const { name, message, stack, cause } = error;
  return {
    name,
    message,
    stack,
    cause: cause === undefined ? undefined : causeToData(cause),
    domain: error instanceof DomainError ? domainPart(error) : undefined,
  };
}

function causeToData(cause: unknown): ErrorData {
  const { name, message, stack } = cause instanceof Error ? cause : new Error(String(cause));
  return { name, message, stack, cause: undefined, domain: undefined };
}

function domainPart({ code, inBody, details, retryAfterS }: DomainError): ErrorData['domain'] {
  return { code, inBody, details, retryAfterS };
}

export function errorFromData({ name, message, stack, cause, domain }: ErrorData): Error {
  const options = cause === undefined ? {} : { cause: errorFromData(cause) };
  if (domain !== undefined) {
    const { code, inBody, details, retryAfterS } = domain;
    return new DomainError(code, {
      ...options,
      message,
      inBody,
      ...(details === undefined ? {} : { details }),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    });
  }
  const error = new Error(message, options);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
