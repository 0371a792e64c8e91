import { STATUS_CODES } from 'node:http';
import type { ErrorAnswer } from '../failures.js';

/**
 * Returns a response, byte for byte as Node would write it.
 *
 * @param keepAliveMs how long the connection then waits for the next request; undefined when it is to be closed
 */
export function answerText(
  { status, headers, body }: ErrorAnswer,
  keepAliveMs: number | undefined,
): { readonly text: string; readonly encoding: 'latin1' | 'utf8' } {
  const bytes = Buffer.byteLength(body);
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  head += `content-length: ${bytes}\r\nDate: ${dateNow()}\r\n`;
  head +=
    keepAliveMs === undefined
      ? 'Connection: close\r\n\r\n'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}\r\n\r\n`;
  // ASCII needs no encoder.
  return { text: head + body, encoding: bytes === body.length ? 'latin1' : 'utf8' };
}

let dateSecond = 0;
let dateText = '';

/** Returns the time as HTTP writes it, computed once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1_000).toUTCString();
  }
  return dateText;
}
