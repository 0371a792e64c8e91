import { JSON_DEPTH_MAX } from '@tollgate/contract';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  colonEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  plainStringEnd,
  QUOTE,
  startsContainer,
} from './grammar.js';
import { parseJson } from './parse.js';
import { JsonReader, undefinedIfNotPlain } from './reader.js';
import { RecentTexts } from './recent-texts.js';

/** The place of a value in the bytes; `end` is exclusive. */
export class JsonSpan {
  constructor(
    readonly start: number,
    readonly end: number,
  ) {}
}

/** Selects the whole value. */
export const ALL = Symbol('all');
/** Selects only the place of a value, as a `JsonSpan`. */
export const SPAN = Symbol('span');

/** The parts of a JSON value to read. */
export type JsonSelection = typeof ALL | typeof SPAN | SelectedMembers | SelectedEntries;

const LONE_SURROGATE = /\p{Surrogate}/u;
const IS_ASCII = /^[\0-\x7f]*$/;

/** Up to this number, members are compared one by one. */
const COMPARED_MAX = 4;

/** Some members of an object; a value that is not an object is read as null. */
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

  /** Returns the member of the key between these indexes; with many members it is as fast as with few. */
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

/** Whether a name can be selected: not `__proto__`, which cannot simply be assigned, nor one that UTF-8 cannot hold. */
export function isSelectable(name: string): boolean {
  return name !== '__proto__' && !LONE_SURROGATE.test(name);
}

/** All entries of a list, read in the same way; a value that is not a list is read as null. */
export class SelectedEntries {
  readonly texts = new RecentTexts();

  constructor(readonly each: JsonSelection) {}
}

/** Recent texts of all places without a cache of their own. */
const SOME_TEXTS = new RecentTexts();

class Member {
  /** The bytes of the name, one character for each. */
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
 * Reads the selected parts of a text that is known to be JSON, without creating values of the rest: the same as
 * `parseLossless`, with fewer members. The last of duplicate keys wins.
 *
 * @param start of a value; the bytes around it are not read
 * @returns undefined where keys have escapes, or the text turns out not to be JSON: then parse all of it
 */
export function selectJson(bytes: Buffer, selection: JsonSelection, start = 0): unknown {
  try {
    return new Selector(bytes, start).value(selection, SOME_TEXTS, 0);
  } catch (error) {
    return undefinedIfNotPlain(error);
  }
}

class Selector extends JsonReader {
  constructor(bytes: Buffer, start: number) {
    // A text has fewer values than bytes.
    super(bytes, start, { depthMax: JSON_DEPTH_MAX, valuesMax: bytes.length });
  }

  /**
   * @param texts recent texts of this place
   * @param depth of the containers around it
   */
  value(selection: JsonSelection, texts: RecentTexts, depth: number): unknown {
    if (selection === ALL) return this.#all(texts, depth);
    const { at: start } = this;
    const first = this.bytes[start];
    if (selection instanceof SelectedMembers && first === OPEN_BRACE)
      return this.#object(selection, depth + 1);
    if (selection instanceof SelectedEntries && first === OPEN_BRACKET)
      return this.#list(selection, depth + 1);
    this.skip(depth);
    return selection === SPAN ? new JsonSpan(start, this.at) : null;
  }

  #object(members: SelectedMembers, depth: number): unknown {
    const object: Record<string, unknown> = {};
    for (let isOpen = this.enter(depth, CLOSE_BRACE); isOpen; isOpen = this.goesOn(CLOSE_BRACE)) {
      const member = this.#member(members);
      if (member === undefined) this.skip(depth);
      else object[member.name] = this.value(member.selection, member.texts, depth);
    }
    return object;
  }

  #list({ each, texts }: SelectedEntries, depth: number): unknown {
    const list: unknown[] = [];
    for (let isOpen = this.enter(depth, CLOSE_BRACKET); isOpen; isOpen = this.goesOn(CLOSE_BRACKET)) {
      list.push(this.value(each, texts, depth));
    }
    return list;
  }

  /** Moves past a key, and returns its member. */
  #member(members: SelectedMembers): Member | undefined {
    const { bytes, at: start } = this;
    if (bytes[start] !== QUOTE) this.notPlain();
    const end = plainStringEnd(bytes, start);
    this.moveTo(end);
    this.moveTo(colonEnd(bytes, end));
    return members.find(bytes, start + 1, end - 1);
  }

  #all(texts: RecentTexts, depth: number): unknown {
    const { bytes, at: start } = this;
    const first = bytes[start];
    if (first === QUOTE) return this.string(texts);
    if (!startsContainer(first)) return this.scalar(true);
    this.skip(depth);
    return parseJson(bytes.subarray(start, this.at));
  }
}

function isAt(bytes: Uint8Array, start: number, key: string): boolean {
  for (let at = 0; at < key.length; at++) if (bytes[start + at] !== key.charCodeAt(at)) return false;
  return true;
}
