import { SEARCHED_CHARS_MAX } from '../limits.js';
import { textTest } from './text-function.js';

const TOO_LONG = `expected a string of at most ${SEARCHED_CHARS_MAX} characters to look for`;

/** The search of JavaScript engines takes time that grows with both lengths: only short text may be looked for. */
export const contains = textTest('contains', (text, part, site) =>
  part.length <= SEARCHED_CHARS_MAX ? text.includes(part) : site.fail(TOO_LONG),
);
