import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import {
  ArrayColumn,
  DictionaryColumn,
  ListLengths,
  MapColumn,
  NullableColumn,
  nativeBlock,
  PlainColumn,
} from './native-block.js';

let house: TestClickHouse;
beforeAll(async () => {
  house = await createTestClickHouse();
});
afterAll(() => house.drop());

let tables = 0;
/** Inserts `bytes` into a new table of these columns, and returns the rows in the order of `id`. */
async function readBack(
  columns: string,
  names: string[],
  rowCount: number,
  bytes: Buffer[],
): Promise<unknown[]> {
  const table = `native_${++tables}`;
  const { clickhouse } = house;
  await clickhouse.command(`CREATE TABLE ${table} (id UInt32, ${columns}) ENGINE = MergeTree ORDER BY id
    SETTINGS non_replicated_deduplication_window = 100`);
  await clickhouse.insertRows(table, ['id', ...names], { bytes }, rowCount, 't1');
  return clickhouse.query(`SELECT ${names.join(', ')} FROM ${table} ORDER BY id`);
}

function idsOf(rowCount: number): PlainColumn {
  const ids = new PlainColumn('UInt32');
  for (let id = 0; id < rowCount; id++) ids.uint32(id);
  return ids;
}

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const record = fc.record({
  plain: text,
  word: text,
  amount: fc.option(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), { nil: null }),
  words: fc.array(text, { maxLength: 3 }),
  counts: fc.array(fc.nat(0xffff_ffff), { maxLength: 3 }),
  pairs: fc.dictionary(text, text, { maxKeys: 3 }),
});
type Row = typeof record extends fc.Arbitrary<infer Value> ? Value : never;

/** All kinds of columns; a second use must not see values of the first. */
class Columns {
  readonly plain = new PlainColumn('String');
  readonly word = new DictionaryColumn();
  readonly amount = new NullableColumn(new PlainColumn('Decimal(38, 0)'));
  readonly wordCounts = new ListLengths();
  readonly words = new DictionaryColumn();
  readonly countCounts = new ListLengths();
  readonly counts = new PlainColumn('UInt32');
  readonly pairCounts = new ListLengths();
  readonly keys = new DictionaryColumn();
  readonly values = new PlainColumn('String');
  readonly all = {
    plain: this.plain,
    word: this.word,
    amount: this.amount,
    words: new ArrayColumn(this.wordCounts, this.words),
    counts: new ArrayColumn(this.countCounts, this.counts),
    pairs: new MapColumn(this.pairCounts, this.keys, this.values),
  };

  add(row: Row): void {
    this.plain.string(row.plain);
    this.word.string(row.word);
    this.amount.isNull(row.amount === null);
    this.amount.values.decimal128(row.amount ?? 0n);
    this.wordCounts.add(row.words.length);
    for (const word of row.words) this.words.string(word);
    this.countCounts.add(row.counts.length);
    for (const count of row.counts) this.counts.uint32(count);
    this.pairCounts.add(Object.keys(row.pairs).length);
    for (const [key, value] of Object.entries(row.pairs)) {
      this.keys.string(key);
      this.values.string(value);
    }
  }

  clear(): void {
    for (const column of Object.values(this.all)) column.clear();
  }
}

const TABLE = `plain String, word LowCardinality(String), amount Nullable(Decimal(38, 0)), words Array(String),
  counts Array(UInt32), pairs Map(LowCardinality(String), String)`;

describe('a block in the Native format', () => {
  it('is read by ClickHouse as it was written, column by column', async () => {
    const columns = new Columns();
    const runs = [
      ...fc.sample(fc.array(record, { minLength: 1, maxLength: 30 }), 6),
      // When no list has an element, no dictionary is written, not even an empty one.
      [{ plain: '', word: '', amount: null, words: [], counts: [], pairs: {} }],
    ];
    for (const rows of runs) {
      columns.clear();
      for (const row of rows) columns.add(row);
      const block = nativeBlock(rows.length, [['id', idsOf(rows.length)], ...Object.entries(columns.all)]);
      const read = await readBack(TABLE, Object.keys(columns.all), rows.length, block);
      expect(read).toEqual(rows.map((row) => ({ ...row, amount: row.amount?.toString() ?? null })));
    }
  });

  it('writes a text again that was the last before it started over', async () => {
    const column = new DictionaryColumn();
    column.string('a');
    column.clear();
    column.string('a');
    const bytes = nativeBlock(1, [
      ['id', idsOf(1)],
      ['word', column],
    ]);
    const read = await readBack('word LowCardinality(String)', ['word'], 1, bytes);
    expect(read).toEqual([{ word: 'a' }]);
  });

  it('has codes of four bytes once a dictionary has more than 65,536 texts, and of two again after that', async () => {
    const column = new DictionaryColumn();
    for (const differing of [65_536, 65_537, 70_000, 3]) {
      column.clear();
      const texts = Array.from({ length: 75_000 }, (_, index) => `t${index % differing}`);
      for (const one of texts) column.string(one);
      const bytes = nativeBlock(texts.length, [
        ['id', idsOf(texts.length)],
        ['word', column],
      ]);
      const width = (column.data().at(-1)?.length ?? 0) / texts.length;
      expect(width).toBe(differing > 65_536 ? 4 : 2);
      const read = await readBack('word LowCardinality(String)', ['word'], texts.length, bytes);
      expect(read).toEqual(texts.map((word) => ({ word })));
    }
  });
});
