import { ERRORS, type ErrorBody, ErrorBodySchema, type ErrorCode } from '@tollgate/contract';
import type { JsonSchema } from './schema.js';

/** An error status: its name among the shared responses, its meaning, and one of its codes. */
interface ErrorResponse {
  readonly name: string;
  readonly description: string;
  readonly code: ErrorCode;
  /** Header fields in addition to those of every response, by name. */
  readonly headers?: readonly HeaderName[];
}

const HEADERS = {
  'X-Request-Id': {
    description: 'Names the request in the log of the service: quote it when you report a problem.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the same request is sent again.',
    schema: { type: 'integer', format: 'int32' },
  },
  'WWW-Authenticate': { description: 'The scheme of the key.', schema: { type: 'string', enum: ['Bearer'] } },
} as const;
type HeaderName = keyof typeof HEADERS;

const RESPONSES: Readonly<Record<number, ErrorResponse>> = {
  400: {
    name: 'BadRequest',
    description: 'The request is not valid; `details` names the fields.',
    code: 'invalid_request',
  },
  401: {
    name: 'Unauthenticated',
    description: 'There is no key, or it is malformed, unknown, revoked or expired.',
    code: 'unauthenticated',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description: 'The key lacks the permission, or the plan of the tenant does not allow it.',
    code: 'permission_denied',
  },
  404: {
    name: 'NotFound',
    description: 'The resource does not exist, or belongs to another tenant.',
    code: 'not_found',
  },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with the state of the resource; `code` gives the reason.',
    code: 'name_taken',
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is too large; the message names the limit.',
    code: 'payload_too_large',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not JSON in UTF-8, or it is compressed.',
    code: 'unsupported_media_type',
  },
  429: {
    name: 'TooManyRequests',
    description:
      'A quota, the rate of the key or the number of open requests is exhausted; `code` says which.',
    code: 'event_quota_exceeded',
    headers: ['Retry-After'],
  },
  500: {
    name: 'InternalError',
    description: 'An unexpected error. Quote `X-Request-Id` when you report it.',
    code: 'internal_error',
  },
  502: {
    name: 'BadGateway',
    description: 'An external service failed. Try the same request again.',
    code: 'payment_provider_failed',
  },
  503: {
    name: 'Unavailable',
    description:
      'A database is unavailable or the service is shutting down; nothing was accepted. Try again after `Retry-After`.',
    code: 'store_unavailable',
    headers: ['Retry-After'],
  },
};

/** The responses that operations of one API description share. */
export class ErrorResponses {
  readonly #writeSchema: (schema: object) => JsonSchema;
  readonly #used = new Map<number, object>();

  constructor(writeSchema: (schema: object) => JsonSchema) {
    this.#writeSchema = writeSchema;
  }

  /**
   * Returns a reference to the response of an error status.
   *
   * @throws Error for a status that no error has
   */
  refer(status: number): object {
    const response = RESPONSES[status];
    if (response === undefined) throw new Error(`The status ${status} has no shared response.`);
    if (!this.#used.has(status)) this.#used.set(status, this.#write(response));
    return { $ref: `#/components/responses/${response.name}` };
  }

  /** The shared responses that were referred to, by name, and their header fields. */
  get components(): { readonly responses: object; readonly headers: object } {
    const used = [...this.#used].sort(([a], [b]) => a - b);
    const names = used.flatMap(([status]) => headersOf(RESPONSES[status]));
    return {
      responses: Object.fromEntries(used.map(([status, text]) => [RESPONSES[status]?.name, text])),
      headers: Object.fromEntries([...new Set(names)].map((name) => [name, HEADERS[name]])),
    };
  }

  #write(response: ErrorResponse): object {
    const headers = headersOf(response).map((name) => [name, { $ref: `#/components/headers/${name}` }]);
    const { code, description } = response;
    const example: ErrorBody = { error: ERRORS[code].message, code };
    return {
      description,
      headers: Object.fromEntries(headers),
      content: { 'application/json': { schema: this.#writeSchema(ErrorBodySchema), example } },
    };
  }
}

function headersOf(response: ErrorResponse | undefined): HeaderName[] {
  return ['X-Request-Id', ...(response?.headers ?? [])];
}
