/**
 * Reads blocks of ClickHouse's Native format, column by column: https://clickhouse.com/docs/interfaces/formats/Native
 * A result in this format takes far less time to write and to read than one in JSON.
 */

/** A list for each row: its elements end before `ends` of the row, and begin where those of the row before end. */
export interface Lists<Value> {
  readonly ends: readonly number[];
  readonly values: readonly Value[];
}

/** A map for each row, as two lists of the same length. */
export interface Maps {
  readonly ends: readonly number[];
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

type Column = readonly unknown[] | Lists<unknown> | Maps;

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

  byteStrings(count: number): Uint8Array[] {
    return read(count, () => this.#bytes(this.varint()));
  }

  /** Reads a column of a type with its prefix, which describes the layout of each dictionary in it. */
  column(type: string, count: number): Column {
    for (const _ of type.matchAll(/LowCardinality\(/g)) {
      if (this.#uint64() !== DICTIONARY_LAYOUT)
        throw new Error(`ClickHouse returned another layout of ${type}`);
    }
    return this.#values(type, count);
  }

  #values(type: string, count: number): Column {
    const list = argumentOf('Array', type);
    if (list !== undefined) {
      const ends = read(count, () => this.#uint64());
      return { ends, values: this.#plainValues(list, ends.at(-1) ?? 0) };
    }
    const [keys, values] = argumentOf('Map', type)?.split(', ') ?? [];
    if (keys === undefined || values === undefined) return this.#plainValues(type, count);
    const ends = read(count, () => this.#uint64());
    const size = ends.at(-1) ?? 0;
    return {
      ends,
      keys: this.#plainValues(keys, size) as string[],
      values: this.#plainValues(values, size) as string[],
    };
  }

  #plainValues(type: string, count: number): readonly unknown[] {
    const nullable = argumentOf('Nullable', type);
    if (nullable !== undefined) {
      const nulls = this.#bytes(count);
      return this.#plainValues(nullable, count).map((value, index) => (nulls[index] === 1 ? null : value));
    }
    const width = argumentOf('FixedString', type);
    if (width !== undefined) return read(count, () => this.#bytes(Number(width)));
    if (type === 'LowCardinality(String)') return this.#dictionary(count);
    if (type === 'String') return read(count, () => this.text());
    if (type.startsWith('Decimal(38, ')) return read(count, () => this.#decimal());
    if (type.startsWith('Enum8(')) return this.#names(type, count);
    if (type === 'Bool') return read(count, () => this.#view.getUint8(this.#at++) === 1);
    if (type === 'UInt16') return read(count, () => this.#view.getUint16(this.#take(2), true));
    if (type === 'UInt32' || type === 'DateTime' || type.startsWith('DateTime('))
      return read(count, () => this.#view.getUint32(this.#take(4), true));
    if (type === 'UInt64' || type === 'Int64' || type.startsWith('DateTime64('))
      return read(count, () => this.#uint64());
    throw new Error(`the type ${type} is not known here`);
  }

  #dictionary(count: number): readonly string[] {
    // A column without values has no bytes at all.
    if (count === 0) return [];
    const width = 2 ** (this.#uint64() & CODE_WIDTH_MASK);
    const keys = read(this.#uint64(), () => this.text());
    if (this.#uint64() !== count) throw new Error('a dictionary of ClickHouse has another number of rows');
    return read(count, () => {
      const key = keys[this.#buffer.readUIntLE(this.#take(width), width)];
      if (key === undefined) throw new Error('a dictionary of ClickHouse lacks a key');
      return key;
    });
  }

  #names(type: string, count: number): readonly string[] {
    const names = new Map([...type.matchAll(ENUM_VALUE)].map(([, name, value]) => [Number(value), name]));
    return read(count, () => {
      const value = this.#view.getInt8(this.#at++);
      const name = names.get(value);
      if (name === undefined) throw new Error(`${type} has no name for ${value}`);
      return name;
    });
  }

  #decimal(): bigint {
    const at = this.#take(16);
    const low = this.#view.getBigUint64(at, true);
    const high = this.#view.getBigInt64(at + 8, true);
    return high === 0n ? low : (high << 64n) | low;
  }

  /** Reads an integer that is not negative. @throws RangeError if it is not a safe integer */
  #uint64(): number {
    const at = this.#take(8);
    const value = this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32;
    if (!Number.isSafeInteger(value)) throw new RangeError(`ClickHouse returned ${value} for an integer`);
    return value;
  }

  #bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#buffer.subarray(start, start + length);
  }

  /** Returns the place of the next `length` bytes, and goes on after them. */
  #take(length: number): number {
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#buffer.length) throw new RangeError('ClickHouse has cut off a result');
    return start;
  }
}

function read<Value>(count: number, next: () => Value): Value[] {
  const values: Value[] = [];
  for (let i = 0; i < count; i++) values.push(next());
  return values;
}

/** Returns what is between the parentheses of a type. */
function argumentOf(outer: string, type: string): string | undefined {
  return type.startsWith(`${outer}(`) ? type.slice(outer.length + 1, -1) : undefined;
}
