import { FRACTION_DIGITS_MAX } from '../../kernel/decimal.js';

/** Ids of types, which never change, from PostgreSQL's `pg_type.dat`. */
const BYTEA = 17;
const BIGINT = 20;
const INTEGER = 23;
const UUID = 2_950;
const INTEGER_BYTES = 4;
const BIGINT_BYTES = 8;
const TWO_POW_32 = 0x1_0000_0000;
const UUID_BYTES = 16;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const DIMENSIONS = 1;
const HAS_NO_NULL = 0;
const FIRST_INDEX = 1;

/**
 * Returns a parameter of type `integer[]` in PostgreSQL's binary format. With thousands of elements, the server takes
 * several times as long to parse their text.
 */
export function integerArray(values: readonly number[]): Buffer {
  return binaryArray(INTEGER, INTEGER_BYTES, values, (array, value, at) => array.writeInt32BE(value, at));
}

/**
 * The same for the type `uuid[]`.
 *
 * @param values 32 hex digits each
 */
export function uuidArray(values: readonly string[]): Buffer {
  return binaryArray(UUID, UUID_BYTES, values, (array, value, at) => {
    if (array.write(value, at, UUID_BYTES, 'hex') !== UUID_BYTES || value.length !== 2 * UUID_BYTES) {
      throw new RangeError('a uuid has 32 hex digits');
    }
  });
}

/** The same for the type `bigint[]`; the values are safe integers. */
export function bigintArray(values: readonly number[]): Buffer {
  return binaryArray(BIGINT, BIGINT_BYTES, values, (array, value, at) => {
    array.writeInt32BE(Math.floor(value / TWO_POW_32), at);
    array.writeUInt32BE(value >>> 0, at + INTEGER_BYTES);
  });
}

/**
 * The same for the type `bytea[]`.
 *
 * @param elementBytes the length of each value
 */
export function byteaArray(values: readonly Uint8Array[], elementBytes: number): Buffer {
  return binaryArray(BYTEA, elementBytes, values, (array, value, at) => {
    if (value.length !== elementBytes) throw new RangeError(`expected ${elementBytes} bytes`);
    array.set(value, at);
  });
}

/** Encodes an array as PostgreSQL's `array_recv` reads it: a header, and each element after its length. */
function binaryArray<T>(
  type: number,
  elementBytes: number,
  values: readonly T[],
  write: (array: Buffer, value: T, at: number) => void,
): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + values.length * (LENGTH_BYTES + elementBytes));
  let at = array.writeInt32BE(DIMENSIONS, 0);
  at = array.writeInt32BE(HAS_NO_NULL, at);
  at = array.writeInt32BE(type, at);
  at = array.writeInt32BE(values.length, at);
  at = array.writeInt32BE(FIRST_INDEX, at);
  for (const value of values) {
    at = array.writeInt32BE(elementBytes, at);
    write(array, value, at);
    at += elementBytes;
  }
  return array;
}

/** Text that needs no quotes in an array literal; a bare `null` would become a null. */
const PLAIN = /^(?!null$)[\w-]+$/i;

/**
 * Writes the columns of a batch as array literals of PostgreSQL. Ids, currencies and amounts need no quotes, and arrays
 * of thousands are built in a fraction of the driver's time.
 */
export function columnsOf<Row>(rows: readonly Row[]) {
  return {
    /**
     * For ids, currencies and words of this service.
     *
     * @throws RangeError for text that would need quotes
     */
    words: (word: (row: Row) => string) => {
      const texts = rows.map(word);
      if (!texts.every((text) => PLAIN.test(text)))
        throw new RangeError('a text would need quotes in an array literal');
      return `{${texts.join()}}`;
    },
    amounts: (amount: (row: Row) => bigint | null) =>
      `{${rows.map((row) => numericText(amount(row))).join()}}`,
    integers: (integer: (row: Row) => number | null) =>
      `{${rows.map((row) => integer(row) ?? 'null').join()}}`,
  };
}

function numericText(amount: bigint | null): string {
  return amount === null ? 'null' : `${amount}e-${FRACTION_DIGITS_MAX}`;
}

/**
 * Returns an array literal of PostgreSQL. It is written here and not by the driver, because a batch has tens of
 * thousands of subjects and most values need no escaping.
 */
export function arrayLiteral<Row>(rows: readonly Row[], element: (row: Row) => string | number): string {
  let text = '{';
  for (const row of rows) text += text.length === 1 ? element(row) : `,${element(row)}`;
  return `${text}}`;
}

/** Returns an array element with any text. */
export function quotedText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
