/**
 * The grammar of JSON over bytes, as strict as that of `JSON.parse`, without creating values. Each function begins at
 * the first byte of what it reads, and returns the index just past it, or `BROKEN`. All readers pass strings and values
 * with these functions only, also where the bytes are known to be JSON.
 */

/** The bytes are not JSON, or exceed a bound. */
export const BROKEN = -1;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const PLUS = 0x2b;
const SPACE = 0x20;
/** The bit that differs between the two cases of a letter. */
const CASE_BIT = 0x20;

/** Bytes that end a run of plain characters in a string: a quote, a backslash or a control character. */
const ENDS_RUN = new Uint8Array(256).fill(1, 0, SPACE);
ENDS_RUN[QUOTE] = 1;
ENDS_RUN[BACKSLASH] = 1;
const IS_SPACE = tableOf(' \t\n\r');
const IS_ESCAPED = tableOf('"\\/bfnrt');
const IS_HEX = tableOf('0123456789abcdefABCDEF');
const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text));

/** How much may still be read. */
export interface JsonBudget {
  /** Counted as by `scanJson`. */
  valuesLeft: number;
}

export function spaceEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && IS_SPACE[bytes[at] as number] === 1) at++;
  return at;
}

/** Returns the index of the first byte that is not a plain character of a string. */
function runEnd(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length && ENDS_RUN[bytes[at] as number] === 0) at++;
  return at;
}

/** Passes a string without escapes; any other is `BROKEN`. */
export function plainStringEnd(bytes: Uint8Array, from: number): number {
  const at = runEnd(bytes, from + 1);
  return bytes[at] === QUOTE ? at + 1 : BROKEN;
}

export function stringEnd(bytes: Uint8Array, from: number): number {
  let at = runEnd(bytes, from + 1);
  while (bytes[at] === BACKSLASH) {
    at = escapeEnd(bytes, at + 1);
    if (at === BROKEN) return BROKEN;
    at = runEnd(bytes, at);
  }
  return bytes[at] === QUOTE ? at + 1 : BROKEN;
}

/** @param from index after the backslash */
function escapeEnd(bytes: Uint8Array, from: number): number {
  const byte = bytes[from];
  if (byte === undefined) return BROKEN;
  if (IS_ESCAPED[byte] === 1) return from + 1;
  if (byte !== LOWER_U) return BROKEN;
  for (let at = from + 1; at <= from + 4; at++) {
    if (at >= bytes.length || IS_HEX[bytes[at] as number] !== 1) return BROKEN;
  }
  return from + 5;
}

/** Passes a number, `true`, `false` or `null`. */
export function scalarEnd(bytes: Uint8Array, from: number): number {
  const first = bytes[from];
  if (first === undefined) return BROKEN;
  if (first !== MINUS && (first < ZERO || first > NINE)) return literalEnd(bytes, from);
  let at = first === MINUS ? from + 1 : from;
  at = bytes[at] === ZERO ? at + 1 : digitsEnd(bytes, at);
  if (at !== BROKEN && bytes[at] === DOT) at = digitsEnd(bytes, at + 1);
  if (at !== BROKEN && at < bytes.length && ((bytes[at] as number) | CASE_BIT) === LOWER_E) {
    const sign = bytes[at + 1];
    at = digitsEnd(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
  }
  return at;
}

/** Passes at least one digit. */
function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at++;
  return at === from ? BROKEN : at;
}

function literalEnd(bytes: Uint8Array, from: number): number {
  for (const literal of LITERALS) {
    let at = 0;
    while (at < literal.length && bytes[from + at] === literal[at]) at++;
    if (at === literal.length) return from + at;
  }
  return BROKEN;
}

/**
 * Passes any value with everything in it, in one loop.
 * @param depthLeft how many containers may be open at once, including this one
 */
export function valueEnd(bytes: Uint8Array, from: number, depthLeft: number, budget: JsonBudget): number {
  if (!startsContainer(bytes[from])) return leafEnd(bytes, from);
  const closers: number[] = [];
  let at = from;
  for (;;) {
    // At the first byte of a value.
    const first = bytes[at];
    if (startsContainer(first)) {
      if (closers.length === depthLeft || budget.valuesLeft-- === 0) return BROKEN;
      const closer = first + 2;
      at = spaceEnd(bytes, at + 1);
      if (bytes[at] !== closer) {
        closers.push(closer);
        if (closer === CLOSE_BRACKET) continue;
        at = keyEnd(bytes, at);
        if (at === BROKEN) return BROKEN;
        continue;
      }
      at++;
    } else {
      at = leafEnd(bytes, at);
      if (at === BROKEN) return BROKEN;
    }
    // After a value: closes all containers that end here.
    let closer = closers.at(-1);
    for (;;) {
      if (closer === undefined) return at;
      if ((bytes[at] as number) <= SPACE) at = spaceEnd(bytes, at);
      if (bytes[at] !== closer) break;
      at++;
      closers.pop();
      closer = closers.at(-1);
    }
    if (bytes[at] !== COMMA || budget.valuesLeft-- === 0) return BROKEN;
    at = spaceEnd(bytes, at + 1);
    if (closer === CLOSE_BRACE) {
      at = keyEnd(bytes, at);
      if (at === BROKEN) return BROKEN;
    }
  }
}

export function startsContainer(byte: number | undefined): byte is number {
  return byte === OPEN_BRACE || byte === OPEN_BRACKET;
}

/** Passes a string or a scalar. */
function leafEnd(bytes: Uint8Array, from: number): number {
  return bytes[from] === QUOTE ? stringEnd(bytes, from) : scalarEnd(bytes, from);
}

/** Reads a key and its colon; returns where the value begins. */
function keyEnd(bytes: Uint8Array, from: number): number {
  return bytes[from] === QUOTE ? colonEnd(bytes, stringEnd(bytes, from)) : BROKEN;
}

/** @param from index after a key, or `BROKEN` */
export function colonEnd(bytes: Uint8Array, from: number): number {
  if (from === BROKEN) return BROKEN;
  const at = spaceEnd(bytes, from);
  return bytes[at] === COLON ? spaceEnd(bytes, at + 1) : BROKEN;
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}
