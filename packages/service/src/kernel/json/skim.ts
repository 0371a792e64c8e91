import { isUtf8 } from 'node:buffer';
import {
  BROKEN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  colonEnd,
  containerEnd,
  type JsonBudget,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  scalarEnd,
  spaceEnd,
  stringEnd,
} from './grammar.js';
import { quickInteger } from './scan.js';

export interface SkimBounds {
  /** Containers open at once. */
  readonly depthMax: number;
  /** Counted as by `scanJson`. */
  readonly valuesMax: number;
}

/** Keys that were read before: the same few need not be made anew for every event. */
const KEYS_MAX = 64;
const KEY_BYTES_MAX = 32;
const knownKeys = new Array<{ readonly bytes: Uint8Array; readonly text: string } | undefined>(KEYS_MAX);

/** Thrown and caught in here only. */
const NOT_PLAIN = new Error('not plain JSON');

/**
 * Reads an object as `JSON.parse` does, but makes nothing of its member `unread`, nor of that of an object in
 * a list that is a member of it: that it is JSON is checked, and an empty object or list stands in its place.
 * So an event is accepted without its largest part being built only to be thrown away.
 *
 * @returns undefined for what is no object in UTF-8, is beyond the bounds, or needs care (a key `__proto__`):
 *   then read all of it
 */
export function skimJson(bytes: Buffer, unread: string, bounds: SkimBounds): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    return new Skimmer(bytes, unread, bounds).text();
  } catch (error) {
    if (error === NOT_PLAIN) return undefined;
    throw error;
  }
}

class Skimmer {
  #at = 0;
  readonly #budget: JsonBudget;

  constructor(
    private readonly bytes: Buffer,
    private readonly unread: string,
    private readonly bounds: SkimBounds,
  ) {
    this.#budget = { valuesLeft: bounds.valuesMax };
  }

  text(): unknown {
    this.#at = spaceEnd(this.bytes, 0);
    if (this.bytes[this.#at] !== OPEN_BRACE) throw NOT_PLAIN;
    const value = this.#object(1, true);
    if (spaceEnd(this.bytes, this.#at) < this.bytes.length) throw NOT_PLAIN;
    return value;
  }

  /** @param depth of the containers around it */
  #value(depth: number): unknown {
    const first = this.bytes[this.#at];
    if (first === QUOTE) return this.#string();
    if (first === OPEN_BRACE) return this.#object(depth + 1, false);
    if (first === OPEN_BRACKET) return this.#list(depth + 1);
    return this.#scalar();
  }

  #object(depth: number, mayHoldUnread: boolean): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let isOpen = this.#enter(depth, CLOSE_BRACE); isOpen; isOpen = this.#goesOn(CLOSE_BRACE)) {
      const key = this.#key();
      if (key === '__proto__') throw NOT_PLAIN;
      object[key] = mayHoldUnread && key === this.unread ? this.#placeholder(depth) : this.#value(depth);
    }
    return object;
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    for (let isOpen = this.#enter(depth, CLOSE_BRACKET); isOpen; isOpen = this.#goesOn(CLOSE_BRACKET)) {
      const isInMember = depth === 2 && this.bytes[this.#at] === OPEN_BRACE;
      list.push(isInMember ? this.#object(depth + 1, true) : this.#value(depth));
    }
    return list;
  }

  #placeholder(depth: number): unknown {
    const first = this.bytes[this.#at];
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return this.#value(depth);
    this.#moveTo(containerEnd(this.bytes, this.#at, this.bounds.depthMax - depth, this.#budget));
    return first === OPEN_BRACE ? {} : [];
  }

  /** Moves into a container, to its first entry; false for an empty one, which is passed. */
  #enter(depth: number, close: number): boolean {
    if (depth > this.bounds.depthMax) throw NOT_PLAIN;
    this.#count();
    this.#at = spaceEnd(this.bytes, this.#at + 1);
    if (this.bytes[this.#at] !== close) return true;
    this.#at++;
    return false;
  }

  /** Moves behind an entry, to the next one; false when there is none, and the container is passed. */
  #goesOn(close: number): boolean {
    this.#at = spaceEnd(this.bytes, this.#at);
    const byte = this.bytes[this.#at++];
    if (byte === close) return false;
    if (byte !== COMMA) throw NOT_PLAIN;
    this.#count();
    this.#at = spaceEnd(this.bytes, this.#at);
    return true;
  }

  #count(): void {
    if (this.#budget.valuesLeft-- === 0) throw NOT_PLAIN;
  }

  #key(): string {
    if (this.bytes[this.#at] !== QUOTE) throw NOT_PLAIN;
    const start = this.#at;
    const end = stringEnd(this.bytes, start);
    this.#moveTo(colonEnd(this.bytes, end));
    return knownKey(this.bytes, start + 1, end - 1) ?? textOf(this.bytes, start, end);
  }

  #string(): string {
    const start = this.#at;
    this.#moveTo(stringEnd(this.bytes, start));
    return textOf(this.bytes, start, this.#at);
  }

  #scalar(): unknown {
    const start = this.#at;
    this.#moveTo(scalarEnd(this.bytes, start));
    return (
      quickInteger(this.bytes, start, this.#at) ?? JSON.parse(this.bytes.toString('latin1', start, this.#at))
    );
  }

  #moveTo(end: number): void {
    if (end === BROKEN) throw NOT_PLAIN;
    this.#at = end;
  }
}

/** The string between two quotes. */
function textOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

function knownKey(bytes: Buffer, start: number, end: number): string | undefined {
  const length = end - start;
  if (length === 0 || length > KEY_BYTES_MAX) return undefined;
  const place = (length * 7 + (bytes[start] as number) + (bytes[end - 1] as number) * 3) % KEYS_MAX;
  const known = knownKeys[place];
  if (known !== undefined && known.bytes.length === length) {
    let at = 0;
    while (at < length && known.bytes[at] === bytes[start + at]) at++;
    if (at === length) return known.text;
  }
  const text = textOf(bytes, start - 1, end + 1);
  knownKeys[place] = { bytes: Uint8Array.prototype.slice.call(bytes, start, end), text };
  return text;
}
