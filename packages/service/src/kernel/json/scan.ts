/** Facts about the bytes of a JSON text, found before it is parsed. */
export interface JsonScan {
  /** Containers that are open at once at the deepest place; 0 for a scalar. */
  readonly depthMax: number;
  /** At least the number of values in the text less one: every container, and every comma between two values. */
  readonly valueCount: number;
  /** Whether some number is, or may be, one that a double cannot hold exactly: then parse with `parseLossless`. */
  readonly hasInexactNumber: boolean;
}

/** Any number of this many significant digits comes back unchanged from a double of normal size. */
const EXACT_DIGITS_MAX = 15;
/** No number this short without an exponent is small enough to lose digits as a subnormal double. */
const NORMAL_CHARS_MAX = 300;

const OTHER = 0;
const STRING = 1;
const OPEN = 2;
const CLOSE = 3;
const NUMBER = 4;
const COMMA = 5;

/** Kind of each byte outside strings. */
const KINDS = new Uint8Array(256);
KINDS[0x22] = STRING;
KINDS[0x5b] = KINDS[0x7b] = OPEN;
KINDS[0x5d] = KINDS[0x7d] = CLOSE;
KINDS.fill(NUMBER, 0x30, 0x3a);
KINDS[0x2d] = NUMBER;
KINDS[0x2c] = COMMA;

/**
 * Scans bytes that may or may not be JSON in one pass; never throws. For the part of the bytes that is JSON, it never
 * understates the depth.
 */
export function scanJson(bytes: Uint8Array): JsonScan {
  const length = bytes.length;
  let depth = 0;
  let depthMax = 0;
  let valueCount = 0;
  let hasInexactNumber = false;
  let at = 0;
  while (at < length) {
    const kind = KINDS[bytes[at] as number];
    if (kind === OTHER) {
      at++;
    } else if (kind === STRING) {
      at = lenientStringEnd(bytes, at);
    } else if (kind === OPEN) {
      depth++;
      valueCount++;
      if (depth > depthMax) depthMax = depth;
      at++;
    } else if (kind === CLOSE) {
      depth--;
      at++;
    } else if (kind === COMMA) {
      valueCount++;
      at++;
    } else {
      const end = numberEnd(bytes, at);
      // Most numbers are too short to be inexact, unless they have an exponent.
      if (!hasInexactNumber) hasInexactNumber = mayBeInexact(bytes, at, end);
      at = end;
    }
  }
  return { depthMax, valueCount, hasInexactNumber };
}

/**
 * Returns the index just past the string whose opening quote is at `from`, or the length when it does not end. More
 * lenient than the grammar, because the bytes after a broken string are scanned too.
 */
function lenientStringEnd(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  while (at < length) {
    const byte = bytes[at++];
    if (byte === 0x22) return at;
    if (byte === 0x5c) at++;
  }
  return length;
}

/** Returns the index of the first byte after `from` that cannot be part of a number. */
function numberEnd(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    const isDigit = byte >= 0x30 && byte <= 0x39;
    if (!isDigit && byte !== 0x2e && byte !== 0x65 && byte !== 0x45 && byte !== 0x2b && byte !== 0x2d) break;
  }
  return at;
}

/** True for any exponent and for too many significant digits; leading zeros do not count. */
export function mayBeInexact(bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from > NORMAL_CHARS_MAX) return true;
  let significantDigits = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x65 || byte === 0x45) return true;
    if (byte >= 0x30 && byte <= 0x39 && (significantDigits > 0 || byte !== 0x30)) significantDigits++;
  }
  return significantDigits > EXACT_DIGITS_MAX;
}
