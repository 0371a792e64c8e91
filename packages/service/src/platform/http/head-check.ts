import type { IncomingMessage } from 'node:http';
import { type DomainError, invalidRequest } from '../../kernel/errors.js';

/**
 * Fields that may be sent only once: with two, a proxy in front of the service and the service itself might each use
 * another one.
 */
const SENT_ONCE = ['host', 'authorization'] as const;

/** Returns why the head of a request is refused: `Host` is missing, or a field of `SENT_ONCE` is sent twice. */
export function refusalOfHead({
  rawHeaders,
  headers,
  httpVersion,
}: IncomingMessage): DomainError | undefined {
  for (const name of SENT_ONCE) {
    if (headers[name] !== undefined && isRepeated(rawHeaders, name))
      return invalidRequest(name, 'expected a single header field of this name');
  }
  if (headers.host === undefined && httpVersion === '1.1')
    return invalidRequest('host', 'expected the header field that HTTP/1.1 requires');
  return undefined;
}

/** Names and values alternate in `rawHeaders`, names as they were sent. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const field = rawHeaders[at] as string;
    if (field.length === name.length && field.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
