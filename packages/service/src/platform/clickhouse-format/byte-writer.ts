/**
 * Appends values to one growing buffer, as ClickHouse's binary formats lay them out:
 * https://clickhouse.com/docs/interfaces/formats/RowBinary. Integers are little-endian, lengths are LEB128,
 * decimals are their coefficient as a two's-complement integer. The caller checks the range of a
 * value: the lowest bits of a value that is too large are written.
 */

const INITIAL_BYTES = 128;
/** Memory up to this size is always kept. */
const IDLE_BYTES_MAX = 65_536;
/** Memory up to this multiple of its last use is kept. */
const IDLE_FACTOR = 8;
/** Below this length a loop over the characters beats the call into native code. */
const ASCII_LOOP_CHARS_MAX = 48;
/** A UTF-16 code unit takes at most this many bytes of UTF-8. */
const UTF8_BYTES_PER_CHAR_MAX = 3;
const VARINT_BYTES_MAX = 5;
const TWO_POW_32 = 0x1_0000_0000;

export class ByteWriter {
  #buffer: Buffer;
  #view: DataView;
  #length = 0;

  constructor(capacityBytes = INITIAL_BYTES) {
    this.#buffer = Buffer.allocUnsafe(Math.max(capacityBytes, 1));
    this.#view = viewOf(this.#buffer);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** The written bytes. They share memory with the writer: valid until `clear()` or the next write. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /**
   * Empties the writer. The memory is kept if the last use took a good part of it, so that a single large use does not
   * hold it for ever.
   */
  clear(): void {
    if (this.#length < this.#buffer.length / IDLE_FACTOR && this.#buffer.length > IDLE_BYTES_MAX) {
      this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES);
      this.#view = viewOf(this.#buffer);
    }
    this.#length = 0;
  }

  uint8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  uint16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.#length, value, true);
    this.#length += 2;
  }

  /** Writes a UInt32; also a DateTime as Unix seconds. */
  uint32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  /** Writes a safe integer as Int64. Also for UInt64, and for DateTime64(3) as Unix milliseconds. */
  int64(value: number): void {
    this.#reserve(8);
    this.#view.setUint32(this.#length, value >>> 0, true);
    this.#view.setInt32(this.#length + 4, Math.floor(value / TWO_POW_32), true);
    this.#length += 8;
  }

  /** Writes a Decimal(38, s) from its coefficient, value × 10^s. */
  decimal128(coefficient: bigint): void {
    this.#reserve(16);
    // setBigUint64 keeps the lowest 64 bits, which for a negative number are its two's complement.
    this.#view.setBigUint64(this.#length, coefficient, true);
    this.#view.setBigUint64(this.#length + 8, coefficient >> 64n, true);
    this.#length += 16;
  }

  /** Writes the length of a string or a list. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    let rest = value;
    while (rest > 0x7f) {
      this.#buffer[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#length++] = rest;
  }

  /** Writes a string; a lone surrogate becomes U+FFFD. */
  string(text: string): void {
    if (text.length > ASCII_LOOP_CHARS_MAX || !this.#shortAscii(text)) this.#utf8(text);
  }

  /** Writes a string from its bytes. */
  stringBytes(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.fixedString(bytes);
  }

  /** Writes a FixedString(n); the caller checks the width. */
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
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    grown.set(this.bytes());
    this.#buffer = grown;
    this.#view = viewOf(grown);
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
