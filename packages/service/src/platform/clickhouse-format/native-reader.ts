/**
 * Reads blocks of ClickHouse's Native format, column by column: https://clickhouse.com/docs/interfaces/formats/Native
 * A result in this format takes far less time to write and to read than one in JSON. Values are read from its bytes
 * when they are asked for: objects for all values of many rows would be copied by several collections of garbage.
 */

/** The values of a column. */
export interface Values<Value> {
  readonly length: number;
  /** @param index below the length */
  at(index: number): Value;
}

/** A list for each row: its elements end before `ends` of the row, and begin where those of the row before end. */
export interface Lists<Value> {
  readonly ends: Values<number>;
  readonly values: Values<Value>;
}

/** A map for each row, as two lists of the same length. */
export interface Maps {
  readonly ends: Values<number>;
  readonly keys: Values<string>;
  readonly values: Values<string>;
}

type Column = Values<unknown> | Lists<unknown> | Maps;

/** Rows of a result. */
export interface NativeRows {
  readonly rowCount: number;
  /** @throws Error for a column that the result does not have */
  column<Read extends Column>(name: string): Read;
}

/**
 * Returns the blocks of a result. Texts and names of an Enum8 are strings, numbers are numbers, a Decimal(38, s) is its
 * coefficient, value × 10^s, and a time counts seconds since 1970, or the parts of a second that its type has.
 *
 * @param bytesOf columns of strings whose values are returned as bytes, which share memory with `bytes`
 * @throws Error for a type that no column here has, and for bytes that are cut off
 */
export function readNative(bytes: Uint8Array, bytesOf: readonly string[] = []): NativeRows[] {
  const reader = new NativeReader(bytes);
  const blocks: NativeRows[] = [];
  while (!reader.isEnd) {
    const columnCount = reader.varint();
    const rowCount = reader.varint();
    const columns = new Map<string, Column>();
    for (let i = 0; i < columnCount; i++) {
      const name = reader.text();
      const type = reader.text();
      columns.set(
        name,
        bytesOf.includes(name) ? reader.byteStrings(rowCount) : reader.column(type, rowCount),
      );
    }
    blocks.push({ rowCount, column: (name) => columnOf(columns, name) });
  }
  return blocks;
}

function columnOf<Read extends Column>(columns: ReadonlyMap<string, Column>, name: string): Read {
  const column = columns.get(name);
  if (column === undefined) throw new Error(`ClickHouse returned no column ${name}`);
  return column as Read;
}

const ENUM_VALUE = /'([^']*)' = (-?\d+)/g;
/** The only version of the dictionary layout. */
const DICTIONARY_LAYOUT = 1;
/** The lowest bits of a dictionary's layout are the width of its codes: 1, 2, 4 or 8 bytes. */
const CODE_WIDTH_MASK = 0xff;
const UINT64_BYTES = 8;
const DECIMAL_BYTES = 16;

class NativeReader {
  readonly #buffer: Buffer;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isEnd(): boolean {
    return this.#at === this.#buffer.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#view.getUint8(this.#at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    const length = this.varint();
    if (length === 0) return '';
    const start = this.#take(length);
    return this.#buffer.toString('utf8', start, start + length);
  }

  byteStrings(count: number): Values<Uint8Array> {
    const { starts, ends } = this.#strings(count);
    const buffer = this.#buffer;
    return { length: count, at: (index) => buffer.subarray(starts[index], ends[index]) };
  }

  /** Reads a column of a type with its prefix, which describes the layout of each dictionary in it. */
  column(type: string, count: number): Column {
    for (const _ of type.matchAll(/LowCardinality\(/g)) {
      if (uint64(this.#view, this.#take(UINT64_BYTES)) !== DICTIONARY_LAYOUT)
        throw new Error(`ClickHouse returned another layout of ${type}`);
    }
    return this.#values(type, count);
  }

  #values(type: string, count: number): Column {
    const list = argumentOf('Array', type);
    if (list !== undefined) {
      const ends = this.#integers(count);
      return { ends, values: this.#plainValues(list, lastOf(ends)) };
    }
    const [keys, values] = argumentOf('Map', type)?.split(', ') ?? [];
    if (keys === undefined || values === undefined) return this.#plainValues(type, count);
    const ends = this.#integers(count);
    const size = lastOf(ends);
    return {
      ends,
      keys: this.#plainValues(keys, size) as Values<string>,
      values: this.#plainValues(values, size) as Values<string>,
    };
  }

  #plainValues(type: string, count: number): Values<unknown> {
    const view = this.#view;
    const nullable = argumentOf('Nullable', type);
    if (nullable !== undefined) {
      const isNull = this.#fixed(count, 1, (at) => view.getUint8(at) === 1);
      const values = this.#plainValues(nullable, count);
      return { length: count, at: (index) => (isNull.at(index) ? null : values.at(index)) };
    }
    const width = Number(argumentOf('FixedString', type) ?? 0);
    if (width > 0) return this.#fixed(count, width, (at) => this.#buffer.subarray(at, at + width));
    if (type === 'LowCardinality(String)') return this.#dictionary(count);
    if (type === 'String') return this.#texts(count);
    if (type.startsWith('Decimal(38, ')) return this.#fixed(count, DECIMAL_BYTES, (at) => decimal(view, at));
    if (type.startsWith('Enum8(')) return this.#names(type, count);
    if (type === 'Bool') return this.#fixed(count, 1, (at) => view.getUint8(at) === 1);
    if (type === 'UInt16') return this.#fixed(count, 2, (at) => view.getUint16(at, true));
    if (type === 'UInt32' || type === 'DateTime' || type.startsWith('DateTime('))
      return this.#fixed(count, 4, (at) => view.getUint32(at, true));
    if (type === 'UInt64' || type === 'Int64' || type.startsWith('DateTime64(')) return this.#integers(count);
    throw new Error(`the type ${type} is not known here`);
  }

  /** Values of the same number of bytes. */
  #fixed<Value>(count: number, width: number, valueAt: (at: number) => Value): Values<Value> {
    const start = this.#take(count * width);
    return { length: count, at: (index) => valueAt(start + index * width) };
  }

  #integers(count: number): Values<number> {
    const view = this.#view;
    return this.#fixed(count, UINT64_BYTES, (at) => uint64(view, at));
  }

  #texts(count: number): Values<string> {
    const { starts, ends } = this.#strings(count);
    const buffer = this.#buffer;
    return {
      length: count,
      at: (index) =>
        starts[index] === ends[index] ? '' : buffer.toString('utf8', starts[index], ends[index]),
    };
  }

  /** The places of strings. */
  #strings(count: number): { readonly starts: Uint32Array; readonly ends: Uint32Array } {
    const starts = new Uint32Array(count);
    const ends = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const length = this.varint();
      starts[i] = this.#take(length);
      ends[i] = this.#at;
    }
    return { starts, ends };
  }

  #dictionary(count: number): Values<string> {
    // A column without values has no bytes at all.
    if (count === 0) return NO_TEXTS;
    const width = 2 ** (uint64(this.#view, this.#take(UINT64_BYTES)) & CODE_WIDTH_MASK);
    const keyCount = uint64(this.#view, this.#take(UINT64_BYTES));
    const keys = Array.from({ length: keyCount }, () => this.text());
    if (uint64(this.#view, this.#take(UINT64_BYTES)) !== count)
      throw new Error('a dictionary of ClickHouse has another number of rows');
    const buffer = this.#buffer;
    return this.#fixed(count, width, (at) => {
      const key = keys[buffer.readUIntLE(at, width)];
      if (key === undefined) throw new Error('a dictionary of ClickHouse lacks a key');
      return key;
    });
  }

  #names(type: string, count: number): Values<string> {
    const names = new Map(
      [...type.matchAll(ENUM_VALUE)].map(([, name = '', value]) => [Number(value), name]),
    );
    const view = this.#view;
    return this.#fixed(count, 1, (at) => {
      const value = view.getInt8(at);
      const name = names.get(value);
      if (name === undefined) throw new Error(`${type} has no name for ${value}`);
      return name;
    });
  }

  /** Returns the place of the next `length` bytes, and goes on after them. */
  #take(length: number): number {
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#buffer.length) throw new RangeError('ClickHouse has cut off a result');
    return start;
  }
}

const NO_TEXTS: Values<string> = {
  length: 0,
  at: () => {
    throw new RangeError('a column without values has none');
  },
};

function lastOf({ length, at }: Values<number>): number {
  return length === 0 ? 0 : at(length - 1);
}

function decimal(view: DataView, at: number): bigint {
  const low = view.getBigUint64(at, true);
  const high = view.getBigInt64(at + UINT64_BYTES, true);
  return high === 0n ? low : (high << 64n) | low;
}

/** Reads an integer that is not negative. @throws RangeError if it is not a safe integer */
function uint64(view: DataView, at: number): number {
  const value = view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
  if (!Number.isSafeInteger(value)) throw new RangeError(`ClickHouse returned ${value} for an integer`);
  return value;
}

/** Returns what is between the parentheses of a type. */
function argumentOf(outer: string, type: string): string | undefined {
  return type.startsWith(`${outer}(`) ? type.slice(outer.length + 1, -1) : undefined;
}
