import {
  BROKEN,
  COMMA,
  colonEnd,
  type JsonBudget,
  plainStringEnd,
  QUOTE,
  scalarEnd,
  spaceEnd,
  stringEnd,
  valueEnd,
} from './grammar.js';
import { parseLossless } from './parse.js';
import type { RecentTexts } from './recent-texts.js';
import { mayBeInexact } from './scan.js';

export interface JsonBounds {
  /** Upper bound of the containers that are open at once. */
  readonly depthMax: number;
  /** Counted as by `scanJson`. */
  readonly valuesMax: number;
}

/** Upper bound of the digits of an integer that is converted directly. */
const QUICK_DIGITS_MAX = 15;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;

/** Thrown by readers; `undefinedIfNotPlain` tells it from other errors. */
const NOT_PLAIN = new Error('not plain JSON');

/** Returns undefined for what a reader throws when it finds JSON that it leaves to the parser; throws other errors. */
export function undefinedIfNotPlain(error: unknown): undefined {
  if (error !== NOT_PLAIN) throw error;
}

/** A cursor that creates values from JSON bytes, where its subclass wants them. */
export class JsonReader {
  protected at: number;
  readonly #budget: JsonBudget;

  /** @param start of a value, or of the space before it */
  constructor(
    protected readonly bytes: Buffer,
    start: number,
    protected readonly bounds: JsonBounds,
  ) {
    this.at = spaceEnd(bytes, start);
    this.#budget = { valuesLeft: bounds.valuesMax };
  }

  protected notPlain(): never {
    throw NOT_PLAIN;
  }

  protected moveTo(end: number): void {
    if (end === BROKEN) throw NOT_PLAIN;
    this.at = end;
  }

  /**
   * Enters a container, at its first entry; returns false for an empty one, which is passed.
   * @param depth of this container; 1 is the outermost
   */
  protected enter(depth: number, close: number): boolean {
    if (depth > this.bounds.depthMax) throw NOT_PLAIN;
    this.#count();
    this.at = spaceEnd(this.bytes, this.at + 1);
    if (this.bytes[this.at] !== close) return true;
    this.at++;
    return false;
  }

  /** Moves past an entry, to the next one; returns false when there is none, and the container is passed. */
  protected goesOn(close: number): boolean {
    this.at = spaceEnd(this.bytes, this.at);
    const byte = this.bytes[this.at++];
    if (byte === close) return false;
    if (byte !== COMMA) throw NOT_PLAIN;
    this.#count();
    this.at = spaceEnd(this.bytes, this.at);
    return true;
  }

  #count(): void {
    if (this.#budget.valuesLeft-- === 0) throw NOT_PLAIN;
  }

  protected key(texts: RecentTexts): string {
    if (this.bytes[this.at] !== QUOTE) throw NOT_PLAIN;
    const key = this.string(texts);
    this.moveTo(colonEnd(this.bytes, this.at));
    return key;
  }

  /** @param texts recent texts of this place; without them, the text is always decoded */
  protected string(texts?: RecentTexts): string {
    const { bytes, at: start } = this;
    const end = plainStringEnd(bytes, start);
    if (end === BROKEN) return this.#escapedString();
    this.at = end;
    return texts?.textOf(bytes, start + 1, end - 1) ?? bytes.toString('utf8', start + 1, end - 1);
  }

  /** Leaves escapes to JSON.parse. */
  #escapedString(): string {
    const start = this.at;
    this.moveTo(stringEnd(this.bytes, start));
    return JSON.parse(this.bytes.toString('utf8', start, this.at)) as string;
  }

  /**
   * Reads a number, `true`, `false` or `null`. A number that a double cannot hold becomes a `NumericText`, if exactness
   * is requested.
   */
  protected scalar(isExact: boolean): unknown {
    const { bytes, at: start } = this;
    this.moveTo(scalarEnd(bytes, start));
    const integer = quickInteger(bytes, start, this.at);
    if (integer !== undefined) return integer;
    const first = bytes[start];
    if (first === LOWER_N) return null;
    if (first === LOWER_T || first === LOWER_F) return first === LOWER_T;
    const text = bytes.toString('latin1', start, this.at);
    return isExact && mayBeInexact(bytes, start, this.at) ? parseLossless(text) : Number(text);
  }

  /**
   * Moves past a value.
   *
   * @param depth of the containers around it
   */
  protected skip(depth: number): void {
    this.moveTo(valueEnd(this.bytes, this.at, this.bounds.depthMax - depth, this.#budget));
  }
}

/** Returns the integer if it consists of digits only, and of so few that a double is exact. */
function quickInteger(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > QUICK_DIGITS_MAX) return undefined;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}
