import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ERRORS, type ErrorBody } from '@tollgate/contract';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/errors.js';
import { isClickHouseUnavailable } from '../clickhouse/index.js';
import { isTenantMoving, isUnavailable } from '../postgres/index.js';
import type { FailedRequest, FailureLog } from './failure-log.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Every response has this field: browsers must not guess its type, and never run a tenant's text as a script or page.
 */
export const NO_SNIFFING = ['x-content-type-options', 'nosniff'] as const;

/** The response to a failure. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Converts a thrown value into an error of the registry. An unexpected one becomes `internal_error`. */
function toDomainError(error: unknown, request: FailedRequest): DomainError {
  if (error instanceof DomainError) return error;
  const { code, statusCode } = (error ?? {}) as Partial<FastifyError>;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const bytesMax = request.routeOptions.bodyLimit;
      return new DomainError('payload_too_large', {
        message: `The body is too large: at most ${bytesMax} bytes are accepted here.`,
      });
    }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new DomainError('unsupported_media_type');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new DomainError('invalid_request', {
        message: 'The body is not as long as Content-Length says.',
      });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new DomainError('not_found');
    case 'FST_ERR_BAD_URL':
      return new DomainError('invalid_request', { message: 'The URL is malformed.' });
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      // The error of a store that closed its connection can look the same.
      if (request.raw.readableAborted)
        return new DomainError('invalid_request', { message: 'The request was aborted.' });
  }
  if (isUnavailable(error) || isClickHouseUnavailable(error)) {
    return new DomainError('store_unavailable', { cause: error });
  }
  if (isTenantMoving(error)) return new DomainError('tenant_moving');
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new DomainError('invalid_request', { cause: error });
  }
  return new DomainError('internal_error', { cause: error });
}

/** Returns the response to a thrown value; failures that the service causes are logged. */
export function answerTo(error: unknown, request: FailedRequest, log: FailureLog): ErrorAnswer {
  const failure = toDomainError(error, request);
  const status = statusOf(failure);
  if (status === 500) log.defect(error, request);
  else if (status > 500 && !isRefusal(status, failure)) log.outage(failure, request);
  const headers: (readonly [string, string])[] = [['x-request-id', request.id], NO_SNIFFING];
  const retryAfterS = retryAfterSecondsOf(failure);
  if (retryAfterS !== undefined) headers.push(['retry-after', String(retryAfterS)]);
  if (status === 401) headers.push(['www-authenticate', 'Bearer']);
  headers.push(['content-type', JSON_TYPE]);
  return { status, headers, body: JSON.stringify(bodyOf(failure)) };
}

/** Sends the response to an error. */
export function sendError(
  log: FailureLog,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { status, headers, body } = answerTo(error, request, log);
  // The body was read to its end, so the connection can serve the next request.
  if (request.rawBody !== undefined && reply.hasHeader('connection')) reply.removeHeader('connection');
  for (const [name, value] of headers) reply.header(name, value);
  reply.code(status).send(body);
}

/**
 * Whether the service refused the request on purpose, under load or during shutdown: such a 503 is counted, but not
 * logged a thousand times a second.
 */
function isRefusal(status: number, { cause }: DomainError): boolean {
  return status === 503 && cause === undefined;
}

/** Connections that wait for earlier responses before the refusal, which is their last response. */
const refusedLater = new WeakSet<Socket>();

/**
 * Responds to bytes that Node's HTTP parser refuses before there is a request, in the form of every other error.
 * Earlier requests of the connection get their responses first: they may have been served, and a client takes the first
 * response for that of its first request.
 */
export function answerUnparsable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // The parser refuses all further bytes too.
  if (refusedLater.has(socket)) return;
  const ahead = responseAhead(socket);
  if (ahead !== undefined) {
    refusedLater.add(socket);
    ahead.once('close', () => {
      refusedLater.delete(socket);
      answerUnparsable(error, socket);
    });
    return;
  }
  const answer = new DomainError(codeOfClientError(error.code), {
    message: messageOfClientError(error.code),
  });
  const status = statusOf(answer);
  const body = JSON.stringify(bodyOf(answer));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      `Content-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nX-Request-Id: unparsable\r\nConnection: close\r\n\r\n${body}`,
  );
}

/**
 * Returns the response that must be sent before a refusal. One that has not begun and awaits the rest of its
 * own request is not returned: that rest cannot be parsed, and the refusal takes its place. Node has no
 * documented way from a connection to its response.
 */
function responseAhead(
  socket: Socket & { _httpMessage?: ServerResponse | null },
): ServerResponse | undefined {
  const response = socket._httpMessage ?? undefined;
  return response?.req.complete || response?.headersSent ? response : undefined;
}

/**
 * Responds to a request whose `Expect` field asks for something other than `100-continue`, in the form of every other
 * error. Node would send a bare 417. The body is not read, so the connection cannot serve another request.
 */
export function refuseExpectation(
  { headers }: IncomingMessage,
  response: ServerResponse,
  requestId: (incoming: string | string[] | undefined) => string,
): void {
  const answer = new DomainError('expectation_failed');
  const status = statusOf(answer);
  const body = JSON.stringify(bodyOf(answer));
  response.writeHead(status, {
    [NO_SNIFFING[0]]: NO_SNIFFING[1],
    'x-request-id': requestId(headers['x-request-id']),
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

function codeOfClientError(code: string | undefined) {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid_request';
}

function messageOfClientError(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The request headers are too large.';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? 'The request took too long to arrive.'
    : 'This is not a valid HTTP request.';
}

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
