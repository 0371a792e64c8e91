import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { nativeBlock, PlainColumn } from './native-block.js';
import { type Lists, type Maps, type NativeRows, readNative, type Values } from './native-reader.js';

let house: TestClickHouse;
beforeAll(async () => {
  house = await createTestClickHouse();
});
afterAll(() => house.drop());

/** Runs a SELECT, and returns one column of its result. */
async function columnOf(sql: string, bytesOf: readonly string[] = []): Promise<unknown> {
  const [block, ...others] = readNative(await house.clickhouse.exportRows(sql), bytesOf);
  expect(others).toEqual([]);
  if (block === undefined) throw new Error('the result has no block');
  return valuesOf(block);
}

/** Returns all values of a column; of lists and maps, each of their columns. */
function valuesOf(block: NativeRows): unknown {
  const column = block.column<Values<unknown> | Lists<unknown> | Maps>('c');
  const all = ({ length, at }: Values<unknown>) => Array.from({ length }, (_, index) => at(index));
  if ('at' in column) return all(column);
  return Object.fromEntries(Object.entries(column).map(([name, values]) => [name, all(values)]));
}

const texts = ['', 'a', 'ä€😀', 'x'.repeat(127), 'y'.repeat(128), 'z'.repeat(20_000)];
const literals = `[${texts.map((text) => `'${text}'`).join()}]`;
const coefficients = [0n, 1n, -1n, 2n ** 64n, -(2n ** 64n), 2n ** 63n, 10n ** 38n - 1n, 1n - 10n ** 38n];

describe('a result in the Native format', () => {
  it.each([
    ['texts', `arrayJoin(${literals})`, texts],
    ['dictionaries', `CAST(arrayJoin(${literals}), 'LowCardinality(String)')`, texts],
    ['Bool', 'arrayJoin([true, false])', [true, false]],
    ['UInt16', 'toUInt16(arrayJoin([0, 65535]))', [0, 65_535]],
    ['UInt32', 'toUInt32(arrayJoin([0, 4294967295]))', [0, 4_294_967_295]],
    ['UInt64', 'toUInt64(arrayJoin([0, 9007199254740991]))', [0, Number.MAX_SAFE_INTEGER]],
    ['seconds', "toDateTime(arrayJoin([0, 4294967295]), 'UTC')", [0, 4_294_967_295]],
    ['milliseconds', "toDateTime64(arrayJoin([1.5, 1750000000.123]), 3, 'UTC')", [1_500, 1_750_000_000_123]],
    [
      'names',
      "CAST(arrayJoin(['up', 'the down']), 'Enum8(\\'up\\' = 1, \\'the down\\' = -128)')",
      ['up', 'the down'],
    ],
    [
      'decimals',
      `CAST(arrayJoin([${coefficients.map((value) => `'${value}'`).join()}]), 'Decimal(38, 0)')`,
      coefficients,
    ],
    [
      'nullable decimals',
      "CAST(arrayJoin(['1.5', NULL]), 'Nullable(Decimal(38, 18))')",
      [15n * 10n ** 17n, null],
    ],
  ])('has %s', async (_name, sql, expected) => {
    expect(await columnOf(`SELECT ${sql} AS c`)).toEqual(expected);
  });

  it('has bytes, also where they are no text', async () => {
    const bytes = [Buffer.from('00ff80', 'hex'), Buffer.from('c0afed', 'hex')];
    const sql = "arrayJoin([unhex('00ff80'), unhex('c0afed')])";
    expect(await columnOf(`SELECT ${sql} AS c`, ['c'])).toEqual(bytes);
    expect(await columnOf(`SELECT toFixedString(${sql}, 3) AS c`)).toEqual(bytes);
  });

  it('has lists and maps, and none of them', async () => {
    const lists = "SELECT CAST(arrayJoin([['a', 'b'], [], ['b']]), 'Array(LowCardinality(String))') AS c";
    expect(await columnOf(lists)).toEqual({ ends: [2, 2, 3], values: ['a', 'b', 'b'] });
    const maps = `SELECT CAST(arrayJoin([map('k', 'v', 'l', ''), map()]),
      'Map(LowCardinality(String), LowCardinality(String))') AS c`;
    expect(await columnOf(maps)).toEqual({ ends: [2, 2], keys: ['k', 'l'], values: ['v', ''] });
    const none = "SELECT CAST([], 'Array(LowCardinality(String))') AS c";
    expect(await columnOf(none)).toEqual({ ends: [0], values: [] });
  });

  it('has dictionaries with codes of one, two and four bytes', async () => {
    for (const size of [200, 60_000, 70_000]) {
      const sql = `SELECT CAST(toString(number), 'LowCardinality(String)') AS c FROM numbers(${size})`;
      const blocks = readNative(
        await house.clickhouse.exportRows(
          `${sql} SETTINGS max_block_size = 100000, low_cardinality_max_dictionary_size = 0`,
        ),
      );
      const found = blocks.flatMap(valuesOf);
      expect(found).toEqual(Array.from({ length: size }, (_, index) => String(index)));
    }
  });

  it('has several blocks, or none', async () => {
    const { clickhouse } = house;
    const many = await clickhouse.exportRows(
      'SELECT number AS c FROM numbers(10) SETTINGS max_block_size = 3',
    );
    const found = readNative(many).flatMap(valuesOf);
    expect(found).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const none = readNative(await clickhouse.exportRows('SELECT number AS c FROM numbers(10) WHERE c > 10'));
    expect(none.reduce((rows, { rowCount }) => rows + rowCount, 0)).toBe(0);
  });

  it('is read as it was written, and refused where it is cut off', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), fc.nat(), (written, cut) => {
        const column = new PlainColumn('String');
        for (const text of written) column.string(text);
        const bytes = Buffer.concat(nativeBlock(written.length, [['c', column]]));
        expect(readNative(bytes).map(valuesOf)).toEqual([written]);
        const part = bytes.subarray(0, 1 + (cut % (bytes.length - 1)));
        expect(() => readNative(part)).toThrow(RangeError);
      }),
    );
  });

  it.each([
    ['a column that it lacks', () => readNative(blockOf('UInt16'))[0]?.column('d'), 'no column d'],
    ['a type that nothing here has', () => readNative(blockOf('UUID')), 'the type UUID is not known'],
  ])('refuses %s', (_name, run, message) => {
    expect(run).toThrow(message);
  });
});

function blockOf(type: string): Buffer {
  return Buffer.concat(nativeBlock(0, [['c', new PlainColumn(type)]]));
}
