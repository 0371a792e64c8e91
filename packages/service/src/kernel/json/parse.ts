import { JSON_DEPTH_MAX } from '@tollgate/contract';
import { decimalFromNumber, equals, parseDecimal } from '../decimal.js';
import { scanJson } from './scan.js';

/** A JSON number that a double cannot hold exactly, kept as its source text. */
export class NumericText {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  /** Keeps the digits in a plain `JSON.stringify`, as a string; `stringifyLossless` prints a number. */
  toJSON(): string {
    return this.text;
  }
}

/** The JSON is nested too deeply. */
export class JsonDepthError extends RangeError {
  override readonly name = 'JsonDepthError';

  constructor(depthMax = JSON_DEPTH_MAX) {
    super(`JSON is nested more than ${depthMax} levels deep`);
  }
}

/** A number of at most this many characters and no exponent is exact as a double. */
const EXACT_CHARS_MAX = 15;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Parses UTF-8 JSON and keeps every number exact. When all numbers fit doubles, this costs one scan.
 * @throws SyntaxError, JsonDepthError
 */
export function parseJson(bytes: Buffer): unknown {
  const { depthMax, hasInexactNumber } = scanJson(bytes);
  if (depthMax > JSON_DEPTH_MAX) throw new JsonDepthError();
  const text = bytes.toString('utf8');
  return hasInexactNumber ? parseLossless(text) : JSON.parse(text);
}

/**
 * Parses exactly the texts that `JSON.parse` does, to the same values, except that a number that a double cannot hold
 * becomes a {@link NumericText}. The last of duplicate keys wins; `__proto__` is an own property.
 * @throws SyntaxError with the position, JsonDepthError
 */
export function parseLossless(text: string): unknown {
  return new LosslessParser(text).parse();
}

class LosslessParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): unknown {
    const value = this.#value();
    this.#skipWhitespace();
    if (this.#at < this.#text.length) this.#fail();
    return value;
  }

  #value(): unknown {
    this.#skipWhitespace();
    const code = this.#text.charCodeAt(this.#at);
    if (code === DOUBLE_QUOTE) return this.#string();
    if (code === OPEN_BRACE) return this.#object();
    if (code === OPEN_BRACKET) return this.#array();
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.#number();
    return this.#literal();
  }

  #object(): Record<string, unknown> {
    this.#enter();
    const object: Record<string, unknown> = {};
    if (!this.#take(CLOSE_BRACE)) {
      do {
        this.#skipWhitespace();
        if (this.#text.charCodeAt(this.#at) !== DOUBLE_QUOTE) this.#fail();
        const key = this.#string();
        this.#expect(COLON);
        const value = this.#value();
        if (key === '__proto__') defineOwn(object, key, value);
        else object[key] = value;
      } while (this.#take(COMMA));
      this.#expect(CLOSE_BRACE);
    }
    this.#depth--;
    return object;
  }

  #array(): unknown[] {
    this.#enter();
    const array: unknown[] = [];
    if (!this.#take(CLOSE_BRACKET)) {
      do array.push(this.#value());
      while (this.#take(COMMA));
      this.#expect(CLOSE_BRACKET);
    }
    this.#depth--;
    return array;
  }

  #string(): string {
    const start = this.#at;
    let hasEscape = false;
    for (let at = start + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === DOUBLE_QUOTE) {
        this.#at = at + 1;
        return hasEscape ? this.#unescape(start, at + 1) : this.#text.slice(start + 1, at);
      }
      if (code === BACKSLASH) {
        hasEscape = true;
        at++;
      } else if (code < SPACE) {
        this.#fail(at);
      }
    }
    return this.#fail(this.#text.length);
  }

  /** Leaves escapes to JSON.parse, so that both agree on all of them. */
  #unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end)) as string;
    } catch {
      return this.#fail(start);
    }
  }

  #number(): number | NumericText {
    const text = this.#text;
    const start = this.#at;
    let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
    // A zero may only stand alone before the point: what follows it must not be a digit.
    at = text.charCodeAt(at) === ZERO ? at + 1 : this.#digits(at);
    if (text.charCodeAt(at) === DOT) at = this.#digits(at + 1);
    const marker = text.charCodeAt(at);
    const hasExponent = marker === LOWER_E || marker === UPPER_E;
    if (hasExponent) {
      const sign = text.charCodeAt(at + 1);
      at = this.#digits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
    }
    this.#at = at;
    const source = text.slice(start, at);
    const value = Number(source);
    if (!hasExponent && source.length <= EXACT_CHARS_MAX) return value;
    return isExact(source, value) ? value : new NumericText(source);
  }

  /** Returns the index after the digits that begin at `from`; there must be at least one. */
  #digits(from: number): number {
    let at = from;
    for (; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code < ZERO || code > NINE) break;
    }
    return at === from ? this.#fail(from) : at;
  }

  #literal(): boolean | null {
    for (const [word, value] of LITERALS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#fail();
  }

  #skipWhitespace(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return;
    }
  }

  /** Skips whitespace, and then the character if it is there. */
  #take(code: number): boolean {
    this.#skipWhitespace();
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at++;
    return true;
  }

  #expect(code: number): void {
    if (!this.#take(code)) this.#fail();
  }

  #enter(): void {
    if (++this.#depth > JSON_DEPTH_MAX) throw new JsonDepthError();
    this.#at++;
  }

  #fail(position = this.#at): never {
    const what = position >= this.#text.length ? 'Unexpected end of JSON' : 'Unexpected character in JSON';
    throw new SyntaxError(`${what} at position ${Math.min(position, this.#text.length)}`);
  }
}

const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** An assignment would set the prototype instead. */
function defineOwn(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Whether the double denotes exactly the number that was written. A number that is too long for a decimal does not
 * count as exact.
 */
function isExact(source: string, value: number): boolean {
  const written = parseDecimal(source);
  const held = decimalFromNumber(value);
  return written !== undefined && held !== undefined && equals(written, held);
}
