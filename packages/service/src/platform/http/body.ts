import { isUtf8 } from 'node:buffer';
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '@tollgate/contract';
import type { FastifyRequest, preValidationHookHandler } from 'fastify';
import { DomainError } from '../../kernel/errors.js';
import { parseLossless, scanJson, skimJson } from '../../kernel/json/json.js';
import { refuseUnusableText } from '../../kernel/usable-text.js';
import type { App } from './types.js';

const SKIM_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: JSON_VALUES_MAX };

/**
 * Installs a parser for JSON bodies. Fastify's own parser refuses `__proto__`, which is ordinary data here, and keeps
 * neither the bytes nor the position of an error. Depth is checked before JSON.parse, which would recurse.
 */
export function installBodyParser(app: App): void {
  app.decorateRequest('rawBody', undefined);
  app.decorateRequest('arbitraryText', false);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      done(null, parseBody(request, bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Returns a 415 before the body is read, if it is compressed, or JSON in another encoding than UTF-8. */
export function refusalOfBody(request: FastifyRequest): DomainError | undefined {
  const { 'content-encoding': encoding, 'content-type': type } = request.headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new DomainError('unsupported_media_type', { message: 'Compressed bodies are not accepted.' });
  }
  if (type === undefined || type === 'application/json') return undefined;
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return undefined;
  return new DomainError('unsupported_media_type', { message: 'JSON is accepted in UTF-8 only.' });
}

/** For routes without a body: a field that would be ignored is refused like any unknown one. */
export const refuseFields: preValidationHookHandler = ({ body }, _reply, done) => {
  const isEmpty =
    body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);
  if (isEmpty) done();
  else
    done(new DomainError('invalid_request', { message: 'The request is not valid: no body is expected.' }));
};

function parseBody(request: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  request.rawBody = bytes;
  return readJson(bytes, request.arbitraryText);
}

/**
 * Returns the value of a body.
 *
 * @param arbitraryText as in a route's config
 * @throws DomainError for a body that is not JSON, or costs too much to read
 */
export function readJson(bytes: Buffer, arbitraryText: boolean): unknown {
  if (!isUtf8(bytes)) {
    throw new DomainError('invalid_json', { message: 'The body is not valid JSON: it is not UTF-8.' });
  }
  refuseCostlyJson(bytes);
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DomainError('invalid_json', { message: describeSyntaxError(text) });
  }
  // NUL or a lone surrogate: in a body that is valid UTF-8, only an escape can bring it.
  if (!arbitraryText && bytes.includes('\\u')) refuseUnusableText(value);
  return value;
}

/**
 * Reads JSON of arbitrary text and leaves the member `unread` empty, in steps (`skimJson`).
 * @throws DomainError in the same cases as `readJson`
 */
export function* skimBody(bytes: Buffer, unread: string): Generator<void, unknown> {
  return (yield* skimJson(bytes, unread, SKIM_BOUNDS)) ?? readJson(bytes, true);
}

/** Refuses JSON that is expensive to parse: JSON.parse takes seconds for a body of brackets alone. */
function refuseCostlyJson(bytes: Buffer): void {
  const { depthMax, valueCount } = scanJson(bytes);
  if (depthMax > JSON_DEPTH_MAX) {
    throw new DomainError('json_too_deep', {
      message: `The JSON is nested too deeply: at most ${JSON_DEPTH_MAX} levels (JSON_DEPTH_MAX) are accepted.`,
    });
  }
  if (valueCount > JSON_VALUES_MAX) {
    throw new DomainError('json_too_complex', {
      message: `The JSON contains too many values: at most ${JSON_VALUES_MAX} (JSON_VALUES_MAX) are accepted.`,
    });
  }
}

/**
 * Returns the place of the syntax error, as line and column, without the client's data. JSON.parse does not always give
 * it, so this service's parser reads the text again.
 */
function describeSyntaxError(text: string): string {
  const offset = syntaxErrorOffset(text);
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  const column = offset - lineStart + 1;
  const what = offset >= text.length ? 'it ends too early' : 'unexpected character';
  return `The body is not valid JSON: ${what} at line ${line}, column ${column} (position ${offset}).`;
}

function syntaxErrorOffset(text: string): number {
  try {
    parseLossless(text);
  } catch (error) {
    const position = /at position (\d+)$/.exec((error as Error).message)?.[1];
    if (position !== undefined) return Math.min(Number(position), text.length);
  }
  return text.length;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `config.arbitraryText` of the route. */
    arbitraryText: boolean;
  }
}
