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
import { type JsonBounds, JsonReader, unlessNotPlain } from './reader.js';
import { RecentTexts } from './recent-texts.js';

/** Recent keys: the same few need not be decoded for every event. */
const KEYS = new RecentTexts(64);

/**
 * Reads an object as `JSON.parse` does, but creates no value of its member `unread`, nor of that member in the objects
 * of a list that is a member of it: it checks that this member is JSON, and puts an empty object or list in its place.
 * So an event is accepted without building its largest part only to drop it.
 *
 * @returns undefined for JSON that is not an object in UTF-8, is beyond the bounds, or needs care (a key `__proto__`):
 * then read all of it
 */
export function skimJson(bytes: Buffer, unread: string, bounds: JsonBounds): unknown {
  if (!isUtf8(bytes)) return undefined;
  return unlessNotPlain(() => new Skimmer(bytes, unread, bounds).text());
}

class Skimmer extends JsonReader {
  readonly #unread: string;

  constructor(bytes: Buffer, unread: string, bounds: JsonBounds) {
    super(bytes, 0, bounds);
    this.#unread = unread;
  }

  text(): unknown {
    if (this.bytes[this.at] !== OPEN_BRACE) this.notPlain();
    const value = this.#object(1, true);
    if (spaceEnd(this.bytes, this.at) < this.bytes.length) this.notPlain();
    return value;
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
      const key = this.key(KEYS);
      if (key === '__proto__') this.notPlain();
      object[key] = mayHoldUnread && key === this.#unread ? this.#placeholder(depth) : this.#value(depth);
    }
    return object;
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    for (let isOpen = this.enter(depth, CLOSE_BRACKET); isOpen; isOpen = this.goesOn(CLOSE_BRACKET)) {
      const isInMember = depth === 2 && this.bytes[this.at] === OPEN_BRACE;
      list.push(isInMember ? this.#object(depth + 1, true) : this.#value(depth));
    }
    return list;
  }

  #placeholder(depth: number): unknown {
    const first = this.bytes[this.at];
    if (!startsContainer(first)) return this.#value(depth);
    this.skip(depth);
    return first === OPEN_BRACE ? {} : [];
  }
}
