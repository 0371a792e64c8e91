import { textTransformation } from './text-function.js';

/**
 * Without white space at both ends, as Unicode defines it: JavaScript's own trim() takes U+FEFF for it, but
 * not U+0085.
 */
export const trim = textTransformation('trim', (text) => {
  let [start, end] = [0, text.length];
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
});

/** The property White_Space of Unicode, all of whose characters are single code units. */
function isWhiteSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code >= 0x2000 && code <= 0x200a) return true;
  return OTHER_WHITE_SPACE.has(code);
}

const OTHER_WHITE_SPACE: ReadonlySet<number> = new Set([
  0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
]);
