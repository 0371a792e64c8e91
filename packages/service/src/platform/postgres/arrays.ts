/** Ids of types, which never change, from PostgreSQL's `pg_type.dat`. */
const INTEGER = 23;
const UUID = 2_950;
const INTEGER_BYTES = 4;
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
