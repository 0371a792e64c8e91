import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from './grammar.js';
import { parseJson, parseLossless } from './parse.js';
import { mayBeInexact, quickInteger, startsNumber, valueEnd } from './scan.js';

/** The place of a value in the bytes; `end` is exclusive. */
export class JsonSpan {
  constructor(
    readonly start: number,
    readonly end: number,
  ) {}
}

/** The whole value is read. */
export const ALL = Symbol('all');
/** Only where the value stands is noted, as a `JsonSpan`. */
export const SPAN = Symbol('span');

/** The parts of a JSON value to read. */
export type JsonSelection = typeof ALL | typeof SPAN | SelectedMembers | SelectedEntries;

const LONE_SURROGATE = /\p{Surrogate}/u;
const IS_ASCII = /^[\0-\x7f]*$/;

/** So few members are compared one by one. */
const COMPARED_MAX = 4;

/** Some members of an object; of what is no object, null is read. */
export class SelectedMembers {
  readonly members: readonly Member[];
  /** Members by the length of their key; used when there are many. */
  readonly #byLength: ReadonlyMap<number, readonly Member[]> | undefined;
  readonly #byKey: ReadonlyMap<string, Member> | undefined;

  /** @throws RangeError for a name that is not selectable */
  constructor(selections: Iterable<readonly [name: string, JsonSelection]>) {
    this.members = Array.from(selections, ([name, selection]) => new Member(name, selection));
    const unselectable = this.members.find(({ name }) => !isSelectable(name));
    if (unselectable !== undefined) throw new RangeError(`${unselectable.name} cannot be selected`);
    if (this.members.length <= COMPARED_MAX) return;
    this.#byLength = byKeyLength(this.members);
    this.#byKey = new Map(this.members.map((member) => [member.key, member]));
  }

  /** The member of the key between these places; of many members, no slower than of few. */
  find(bytes: Buffer, start: number, end: number): Member | undefined {
    const length = end - start;
    const alike = this.#byLength === undefined ? this.members : this.#byLength.get(length);
    if (alike === undefined) return undefined;
    if (alike.length > COMPARED_MAX) return this.#byKey?.get(bytes.toString('latin1', start, end));
    for (const member of alike)
      if (member.key.length === length && isAt(bytes, start, member.key)) return member;
    return undefined;
  }
}

function byKeyLength(members: readonly Member[]): Map<number, Member[]> {
  const byLength = new Map<number, Member[]>();
  for (const member of members) {
    const { length } = member.key;
    const alike = byLength.get(length);
    if (alike === undefined) byLength.set(length, [member]);
    else alike.push(member);
  }
  return byLength;
}

/** Not the name that an object cannot simply be given, nor one that UTF-8 does not hold. */
export function isSelectable(name: string): boolean {
  return name !== '__proto__' && !LONE_SURROGATE.test(name);
}

/** All entries of a list, alike; of what is no list, null is read. */
export class SelectedEntries {
  readonly texts = new RecentTexts();

  constructor(readonly each: JsonSelection) {}
}

const RECENT_MAX = 16;
const RECENT_CHARS_MAX = 40;

/** ASCII texts that were read lately: many are the same in event after event, and need not be made anew. */
class RecentTexts {
  readonly #texts: string[] = [];

  textOf(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === 0 || length > RECENT_CHARS_MAX) return bytes.toString('latin1', start, end);
    const place = ((bytes[start] as number) + 7 * (bytes[end - 1] as number) + 31 * length) % RECENT_MAX;
    const recent = this.#texts[place];
    if (recent !== undefined && recent.length === length) {
      let at = 0;
      while (at < length && recent.charCodeAt(at) === bytes[start + at]) at++;
      if (at === length) return recent;
    }
    const text = bytes.toString('latin1', start, end);
    this.#texts[place] = text;
    return text;
  }
}

/** Recent texts of the places that have no memory of their own. */
const SOME_TEXTS = new RecentTexts();

class Member {
  /** The bytes of the name, a character for each. */
  readonly key: string;
  readonly texts: RecentTexts;

  constructor(
    readonly name: string,
    readonly selection: JsonSelection,
  ) {
    this.key = IS_ASCII.test(name) ? name : Buffer.from(name).toString('latin1');
    this.texts = selection === ALL ? new RecentTexts() : SOME_TEXTS;
  }
}

/**
 * Reads of a text, which is known to be JSON, what is selected, without making anything of the rest: as
 * `parseLossless` would, with fewer members. The last of duplicate keys wins.
 *
 * @param start of a value; what stands around it is not looked at
 * @returns undefined where keys have escapes, or the text turns out not to be JSON: then parse all of it
 */
export function selectJson(bytes: Buffer, selection: JsonSelection, start = 0): unknown {
  try {
    return new Selector(bytes, start).value(selection, SOME_TEXTS);
  } catch (error) {
    if (error === NOT_PLAIN) return undefined;
    throw error;
  }
}

/** Thrown and caught in here only. */
const NOT_PLAIN = new Error('not plain JSON');

const LOWER_N = 0x6e;
const LOWER_T = 0x74;
/** Set in no byte of ASCII. */
const HIGH_BIT = 0x80;

/** A cursor over JSON. On other bytes its results mean nothing, but it ends, and stays within the bytes. */
class Selector {
  #at: number;

  constructor(
    private readonly bytes: Buffer,
    start: number,
  ) {
    this.#at = start;
    this.#next();
  }

  /** @param texts that stood at this place before */
  value(selection: JsonSelection, texts: RecentTexts): unknown {
    if (selection === ALL) return this.#all(texts);
    const start = this.#at;
    const first = this.bytes[start];
    if (selection instanceof SelectedMembers && first === OPEN_BRACE) return this.#object(selection);
    if (selection instanceof SelectedEntries && first === OPEN_BRACKET) return this.#list(selection);
    this.#skip();
    return selection === SPAN ? new JsonSpan(start, this.#at) : null;
  }

  #object(members: SelectedMembers): unknown {
    const object: Record<string, unknown> = {};
    this.#at++;
    for (let next = this.#next(); next !== CLOSE_BRACE; next = this.#goOn()) {
      const member = this.#key(members);
      if (this.#next() !== COLON) throw NOT_PLAIN;
      this.#at++;
      this.#next();
      if (member === undefined) this.#skip();
      else object[member.name] = this.value(member.selection, member.texts);
    }
    this.#at++;
    return object;
  }

  #list({ each, texts }: SelectedEntries): unknown {
    const list: unknown[] = [];
    this.#at++;
    for (let next = this.#next(); next !== CLOSE_BRACKET; next = this.#goOn()) {
      list.push(this.value(each, texts));
    }
    this.#at++;
    return list;
  }

  /** Moves past a key and returns its member, if it is selected. */
  #key(members: SelectedMembers): Member | undefined {
    const { bytes } = this;
    if (bytes[this.#at] !== QUOTE) throw NOT_PLAIN;
    const start = this.#at + 1;
    let end = start;
    for (let byte = bytes[end]; byte !== QUOTE; byte = bytes[++end]) {
      if (byte === BACKSLASH || byte === undefined) throw NOT_PLAIN;
    }
    this.#at = end + 1;
    return members.find(bytes, start, end);
  }

  #all(texts: RecentTexts): unknown {
    const { bytes } = this;
    const start = this.#at;
    const first = bytes[start];
    if (first === QUOTE) return this.#string(texts);
    this.#skip();
    const end = this.#at;
    if (startsNumber(first)) return quickInteger(bytes, start, end) ?? numberOf(bytes, start, end);
    if (first === LOWER_N) return null;
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return parseJson(bytes.subarray(start, end));
    return first === LOWER_T;
  }

  #string(texts: RecentTexts): string {
    const { bytes } = this;
    const start = this.#at + 1;
    let end = start;
    let bits = 0;
    for (let byte = bytes[end]; byte !== QUOTE; byte = bytes[++end]) {
      if (byte === BACKSLASH || byte === undefined) return this.#escapedString();
      bits |= byte;
    }
    this.#at = end + 1;
    return (bits & HIGH_BIT) === 0 ? texts.textOf(bytes, start, end) : bytes.toString('utf8', start, end);
  }

  /** Escapes are JSON.parse's own business. */
  #escapedString(): string {
    const start = this.#at;
    this.#skip();
    return JSON.parse(this.bytes.toString('utf8', start, this.#at)) as string;
  }

  #skip(): void {
    const end = valueEnd(this.bytes, this.#at);
    if (end === this.#at) throw NOT_PLAIN;
    this.#at = end;
  }

  /** Moves past the comma behind an entry, and to what comes then. */
  #goOn(): number | undefined {
    const next = this.#next();
    if (next !== COMMA) return next;
    this.#at++;
    return this.#next();
  }

  /** Moves to the first byte that is no whitespace and returns it; undefined at the end. */
  #next(): number | undefined {
    const { bytes } = this;
    while ((bytes[this.#at] as number) <= SPACE) this.#at++;
    return bytes[this.#at];
  }
}

function isAt(bytes: Uint8Array, start: number, key: string): boolean {
  for (let at = 0; at < key.length; at++) if (bytes[start + at] !== key.charCodeAt(at)) return false;
  return true;
}

function numberOf(bytes: Buffer, start: number, end: number): unknown {
  const text = bytes.toString('latin1', start, end);
  return mayBeInexact(bytes, start, end) ? parseLossless(text) : Number(text);
}
