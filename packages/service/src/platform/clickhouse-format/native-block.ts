/**
 * Blocks of ClickHouse's Native format, column by column. The engine holds rows in the same form, so reading them takes
 * almost no work. https://clickhouse.com/docs/interfaces/formats/Native
 */
import { ByteWriter } from './byte-writer.js';

/** A column of a block. Its buffers are valid until it is cleared or written to. */
export interface NativeColumn {
  readonly type: string;
  /** Bytes that describe the type's layout; those of nested types come before all data of the column. */
  prefix(): Buffer[];
  data(): Buffer[];
  clear(): void;
}

export type NamedColumn = readonly [name: string, column: NativeColumn];

/** Returns a block of all `columns`, in buffers that share memory with them. */
export function nativeBlock(rowCount: number, columns: readonly NamedColumn[]): Buffer[] {
  const size = new ByteWriter();
  size.varint(columns.length);
  size.varint(rowCount);
  const pieces = [size.bytes()];
  for (const [name, column] of columns) {
    const header = new ByteWriter();
    header.string(name);
    header.string(column.type);
    pieces.push(header.bytes(), ...column.prefix(), ...column.data());
  }
  return pieces;
}

/** A column of consecutive values. The caller checks their type and their range. */
export class PlainColumn extends ByteWriter implements NativeColumn {
  constructor(readonly type: string) {
    super();
  }

  prefix(): Buffer[] {
    return [];
  }

  data(): Buffer[] {
    return [this.bytes()];
  }
}

/** A column in which each row has a value or NULL. */
export class NullableColumn implements NativeColumn {
  readonly type: string;
  readonly #isNull = new ByteWriter();

  /** @param values contains a value for NULL too, which is ignored */
  constructor(readonly values: PlainColumn) {
    this.type = `Nullable(${values.type})`;
  }

  isNull(isNull: boolean): void {
    this.#isNull.uint8(isNull ? 1 : 0);
  }

  prefix(): Buffer[] {
    return this.values.prefix();
  }

  data(): Buffer[] {
    return [this.#isNull.bytes(), ...this.values.data()];
  }

  clear(): void {
    this.#isNull.clear();
    this.values.clear();
  }
}

/** The lengths of each row's list; shared by lists that always have the same length. */
export class ListLengths {
  readonly #ends = new ByteWriter();
  #total = 0;

  /** Adds the length of the next row. */
  add(length: number): void {
    this.#total += length;
    this.#ends.int64(this.#total);
  }

  /** The sum of the lengths of all rows. */
  get total(): number {
    return this.#total;
  }

  /** Returns for each row the number of elements up to and including it. */
  ends(): Buffer {
    return this.#ends.bytes();
  }

  clear(): void {
    this.#ends.clear();
    this.#total = 0;
  }
}

export class ArrayColumn implements NativeColumn {
  readonly #lengths: ListLengths;
  readonly #elements: NativeColumn;
  readonly type: string;

  constructor(lengths: ListLengths, elements: NativeColumn) {
    this.#lengths = lengths;
    this.#elements = elements;
    this.type = `Array(${elements.type})`;
  }

  prefix(): Buffer[] {
    return this.#elements.prefix();
  }

  data(): Buffer[] {
    return [this.#lengths.ends(), ...this.#elements.data()];
  }

  clear(): void {
    this.#lengths.clear();
    this.#elements.clear();
  }
}

export class MapColumn implements NativeColumn {
  readonly #lengths: ListLengths;
  readonly #keys: NativeColumn;
  readonly #values: NativeColumn;
  readonly type: string;

  constructor(lengths: ListLengths, keys: NativeColumn, values: NativeColumn) {
    this.#lengths = lengths;
    this.#keys = keys;
    this.#values = values;
    this.type = `Map(${keys.type}, ${values.type})`;
  }

  prefix(): Buffer[] {
    return [...this.#keys.prefix(), ...this.#values.prefix()];
  }

  data(): Buffer[] {
    return [this.#lengths.ends(), ...this.#keys.data(), ...this.#values.data()];
  }

  clear(): void {
    this.#lengths.clear();
    this.#keys.clear();
    this.#values.clear();
  }
}

/** Up to this number of different texts, codes have two bytes. */
const SHORT_CODES_MAX = 0x1_0000;
/** The only version of the dictionary layout: each block has its own keys. */
const DICTIONARY_LAYOUT = uint64(1);
/** The block contains the keys (2^9), and all of them (2^10); the lowest bits are the width of the codes. */
const OWN_KEYS = 0x600;
const CODES_OF_16_BITS = 1;
const CODES_OF_32_BITS = 2;

/**
 * A LowCardinality(String): each text once, then its number in each row. It can also be inserted into a column of plain
 * strings.
 */
export class DictionaryColumn implements NativeColumn {
  readonly type = 'LowCardinality(String)';
  readonly #codeOf = new Map<string, number>();
  readonly #keys = new ByteWriter();
  #codes = new ByteWriter();
  #isWide = false;
  #last: string | undefined;
  #lastCode = 0;

  clear(): void {
    this.#isWide = false;
    this.#codeOf.clear();
    this.#keys.clear();
    this.#codes.clear();
    this.#last = undefined;
  }

  string(text: string): void {
    if (text !== this.#last) {
      this.#lastCode = this.#codeOf.get(text) ?? this.#newCode(text);
      this.#last = text;
    }
    if (this.#isWide) this.#codes.uint32(this.#lastCode);
    else this.#codes.uint16(this.#lastCode);
  }

  prefix(): Buffer[] {
    return [DICTIONARY_LAYOUT];
  }

  data(): Buffer[] {
    // A column without values has no bytes at all.
    if (this.#codes.length === 0) return [];
    const layout = OWN_KEYS | (this.#isWide ? CODES_OF_32_BITS : CODES_OF_16_BITS);
    return [
      uint64(layout),
      uint64(this.#codeOf.size),
      this.#keys.bytes(),
      uint64(this.#codes.length / (this.#isWide ? 4 : 2)),
      this.#codes.bytes(),
    ];
  }

  #newCode(text: string): number {
    const code = this.#codeOf.size;
    this.#codeOf.set(text, code);
    this.#keys.string(text);
    if (code === SHORT_CODES_MAX) this.#widen();
    return code;
  }

  /** Rewrites the existing 16-bit codes. */
  #widen(): void {
    this.#isWide = true;
    const short = this.#codes.bytes();
    this.#codes = new ByteWriter(short.length * 2);
    for (let at = 0; at < short.length; at += 2) this.#codes.uint32(short.readUInt16LE(at));
  }
}

function uint64(value: number): Buffer {
  const writer = new ByteWriter(8);
  writer.int64(value);
  return writer.bytes();
}
