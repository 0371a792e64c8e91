import { isUtf8 } from 'node:buffer';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  spaceEnd,
  startsContainer,
} from './grammar.js';
import { type JsonBounds, JsonReader, undefinedIfNotPlain } from './reader.js';
import { RecentTexts } from './recent-texts.js';

/** Bytes of a list that are read in one step, in half a millisecond or so. */
const STEP_BYTES = 32 * 1_024;

/** Recent keys: the same few need not be decoded for every event. */
const KEYS = new RecentTexts(64);

/**
 * Reads an object as `JSON.parse` does, but creates no value of its member `unread`, nor of that member in the objects
 * of a list that is a member of it: it checks that this member is JSON, and puts an empty object or list in its place.
 * So an event is accepted without building its largest part only to drop it. A long list is read in steps: other work
 * may be done between two of them.
 *
 * @returns undefined for JSON that is not an object in UTF-8, is beyond the bounds, or needs care (a key `__proto__`):
 * then read all of it
 */
export function* skimJson(bytes: Buffer, unread: string, bounds: JsonBounds): Generator<void, unknown> {
  if (!isUtf8(bytes)) return undefined;
  try {
    return yield* new Skimmer(bytes, unread, bounds).text();
  } catch (error) {
    return undefinedIfNotPlain(error);
  }
}

class Skimmer extends JsonReader {
  readonly #unread: string;
  #stepEndsAt = STEP_BYTES;

  constructor(bytes: Buffer, unread: string, bounds: JsonBounds) {
    super(bytes, 0, bounds);
    this.#unread = unread;
  }

  *text(): Generator<void, unknown> {
    if (this.bytes[this.at] !== OPEN_BRACE) this.notPlain();
    const value = yield* this.#root();
    if (spaceEnd(this.bytes, this.at) < this.bytes.length) this.notPlain();
    return value;
  }

  *#root(): Generator<void, Record<string, unknown>> {
    const object: Record<string, unknown> = {};
    for (let isOpen = this.enter(1, CLOSE_BRACE); isOpen; isOpen = this.goesOn(CLOSE_BRACE)) {
      const key = this.#key();
      if (key === this.#unread) object[key] = this.#placeholder(1);
      else object[key] = this.bytes[this.at] === OPEN_BRACKET ? yield* this.#members() : this.#value(1);
    }
    return object;
  }

  /** Reads a list that is a member of the root. */
  *#members(): Generator<void, unknown[]> {
    const list: unknown[] = [];
    for (let isOpen = this.enter(2, CLOSE_BRACKET); isOpen; isOpen = this.goesOn(CLOSE_BRACKET)) {
      list.push(this.bytes[this.at] === OPEN_BRACE ? this.#object(3, true) : this.#value(2));
      if (this.at < this.#stepEndsAt) continue;
      yield;
      this.#stepEndsAt = this.at + STEP_BYTES;
    }
    return list;
  }

  /** @param depth of the containers around it */
  #value(depth: number): unknown {
    const first = this.bytes[this.at];
    if (first === QUOTE) return this.string();
    if (first === OPEN_BRACE) return this.#object(depth + 1, false);
    if (first === OPEN_BRACKET) return this.#list(depth + 1);
    return this.scalar(false);
  }

  #object(depth: number, mayHoldUnread: boolean): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let isOpen = this.enter(depth, CLOSE_BRACE); isOpen; isOpen = this.goesOn(CLOSE_BRACE)) {
      const key = this.#key();
      object[key] = mayHoldUnread && key === this.#unread ? this.#placeholder(depth) : this.#value(depth);
    }
    return object;
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    for (let isOpen = this.enter(depth, CLOSE_BRACKET); isOpen; isOpen = this.goesOn(CLOSE_BRACKET)) {
      list.push(this.#value(depth));
    }
    return list;
  }

  #key(): string {
    const key = this.key(KEYS);
    if (key === '__proto__') this.notPlain();
    return key;
  }

  #placeholder(depth: number): unknown {
    const first = this.bytes[this.at];
    if (!startsContainer(first)) return this.#value(depth);
    this.skip(depth);
    return first === OPEN_BRACE ? {} : [];
  }
}
