/**
 * Writes ClickHouse's RowBinary format into one growing buffer.
 *
 * The layout of each type: https://clickhouse.com/docs/interfaces/formats/RowBinary. Integers are little-endian,
 * lengths are LEB128, decimals are their coefficient as a two's-complement integer.
 */

const INITIAL_BYTES = 1 << 20;
/** Below this length a loop over the characters beats the call into native code. */
const ASCII_LOOP_CHARS_MAX = 48;
/** A UTF-16 code unit takes at most this many bytes of UTF-8. */
const UTF8_BYTES_PER_CHAR_MAX = 3;
const VARINT_BYTES_MAX = 5;
const TWO_POW_32 = 0x1_0000_0000;
/** A Decimal(38, s) holds coefficients strictly between −10^38 and 10^38. */
const DECIMAL_COEFFICIENT_BOUND = 10n ** 38n;

export class RowBinaryWriter {
  #buffer: Buffer;
  #view: DataView;
  #length = 0;

  constructor(capacityBytes = INITIAL_BYTES) {
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(capacityBytes, 1));
    this.#view = viewOf(this.#buffer);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** What was written, sharing memory with the writer: valid until `clear()` or the next write. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Starts over in the same memory. */
  clear(): void {
    this.#length = 0;
  }

  /** Drops everything after the first `length` bytes: how a row that failed half-way is taken back. */
  truncate(length: number): void {
    if (length < 0 || length > this.#length) throw new RangeError(`cannot truncate to ${length} bytes`);
    this.#length = length;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  uint16(value: number): void {
    if (value !== (value & 0xffff)) throw new RangeError(`not a UInt16: ${value}`);
    this.#reserve(2);
    this.#view.setUint16(this.#length, value, true);
    this.#length += 2;
  }

  /** Also DateTime, as Unix seconds. */
  uint32(value: number): void {
    if (value !== value >>> 0) throw new RangeError(`not a UInt32: ${value}`);
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  /** Also DateTime64(3), as Unix milliseconds. `value` must be a safe integer. */
  int64(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`not an exact integer: ${value}`);
    this.#reserve(8);
    this.#view.setUint32(this.#length, value >>> 0, true);
    this.#view.setInt32(this.#length + 4, Math.floor(value / TWO_POW_32), true);
    this.#length += 8;
  }

  /** Decimal(38, s) from its coefficient, value × 10^s. */
  decimal128(coefficient: bigint): void {
    const high = coefficient >> 64n;
    if (high !== 0n && high !== -1n) assertDecimalRange(coefficient);
    this.#reserve(16);
    // setBigUint64 keeps the lowest 64 bits, which for a negative number are its two's complement.
    this.#view.setBigUint64(this.#length, coefficient, true);
    this.#view.setBigUint64(this.#length + 8, high, true);
    this.#length += 16;
  }

  nullableDecimal128(coefficient: bigint | null): void {
    this.uint8(coefficient === null ? 1 : 0);
    if (coefficient !== null) this.decimal128(coefficient);
  }

  /** A length: of a string, an array or a map. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    let rest = value;
    while (rest > 0x7f) {
      this.#buffer[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#length++] = rest;
  }

  /** String or LowCardinality(String). A lone surrogate becomes U+FFFD. */
  string(text: string): void {
    if (text.length > ASCII_LOOP_CHARS_MAX || !this.#shortAscii(text)) this.#utf8(text);
  }

  /** String from bytes as they are. */
  stringBytes(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.fixedString(bytes);
  }

  /** FixedString(n): the caller answers for the width. */
  fixedString(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #shortAscii(text: string): boolean {
    const chars = text.length;
    this.#reserve(chars + 1);
    const buffer = this.#buffer;
    let at = this.#length;
    buffer[at++] = chars;
    for (let i = 0; i < chars; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      buffer[at++] = code;
    }
    this.#length = at;
    return true;
  }

  #utf8(text: string): void {
    this.varint(Buffer.byteLength(text, 'utf8'));
    this.#reserve(text.length * UTF8_BYTES_PER_CHAR_MAX);
    this.#length += this.#buffer.write(text, this.#length, 'utf8');
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    grown.set(this.bytes());
    this.#buffer = grown;
    this.#view = viewOf(grown);
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

function assertDecimalRange(coefficient: bigint): void {
  if (coefficient >= DECIMAL_COEFFICIENT_BOUND || coefficient <= -DECIMAL_COEFFICIENT_BOUND) {
    throw new RangeError('a decimal has more than 38 digits');
  }
}
