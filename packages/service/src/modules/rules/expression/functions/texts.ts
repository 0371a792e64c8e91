import { asText } from '../code.js';
import { SEARCHED_CHARS_MAX } from '../limits.js';
import type { Site } from '../site.js';
import type { Run } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

export const startsWith = textTest('startsWith', (text, part) => text.startsWith(part));

export const endsWith = textTest('endsWith', (text, part) => text.endsWith(part));

const TOO_LONG = `expected a string of at most ${SEARCHED_CHARS_MAX} characters to look for`;

/** The search of JavaScript engines takes time that grows with both lengths, so only short text may be searched for. */
export const contains = textTest('contains', (text, part, site) =>
  part.length <= SEARCHED_CHARS_MAX ? text.includes(part) : site.fail(TOO_LONG),
);

export const lowerAscii = textTransformation('lowerAscii', (text) =>
  moveLetters(text, CODE_UPPER_A, CODE_LOWER_A),
);

export const upperAscii = textTransformation('upperAscii', (text) =>
  moveLetters(text, CODE_LOWER_A, CODE_UPPER_A),
);

/** Removes white space at both ends, as Unicode defines it: JavaScript's own trim() removes U+FEFF, but not U+0085. */
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

const CODE_UPPER_A = 65;
const CODE_LOWER_A = 97;
const LETTERS = 26;

/**
 * Maps the 26 letters that begin at `from` to those that begin at `to`, and leaves every other character as it is:
 * other alphabets depend on the language, and may change the length.
 */
function moveLetters(text: string, from: number, to: number): string {
  const bytes = Buffer.from(text, 'utf16le');
  for (let at = 0; at < bytes.length; at += 2) {
    const low = bytes[at] as number;
    if (bytes[at + 1] === 0 && low >= from && low < from + LETTERS) bytes[at] = low - from + to;
  }
  return bytes.toString('utf16le');
}

/** `text.name(part)`; CEL itself defines the signatures. */
function textTest(
  name: string,
  test: (text: string, part: string, site: Site) => boolean,
): FunctionDefinition {
  return {
    name,
    method: true,
    signatures: [],
    usage: `string.${name}(string)`,
    compile: (args): Run => {
      const { run: runText } = asText(argument(args, 0));
      const { run: runPart, site } = asText(argument(args, 1));
      return (env) => test(runText(env), runPart(env), site);
    },
  };
}

/** `text.name()`, by a function whose work grows with the text no faster than its length. */
function textTransformation(name: string, transform: (text: string) => string): FunctionDefinition {
  return {
    name,
    method: true,
    signatures: [],
    usage: `string.${name}()`,
    compile: (args): Run => {
      const { run } = asText(argument(args, 0));
      return (env) => transform(run(env));
    },
  };
}
