import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { holdsWithin } from '../wait.js';
import { textRows } from './blocks.testing.js';
import { isClickHouseUnavailable } from './errors.js';
import type { ClickHouse } from './port.js';
import { parseRows } from './rows.js';
import { rowsUpTo } from './rows-up-to.js';

/** Tests that every ClickHouse must pass, embedded or on a server. The database must be migrated. */
export function describeClickHouse(name: string, open: () => ClickHouse): void {
  describe(`${name}: queries`, () => describeQueries(open));
  describe(`${name}: inserts`, () => describeInserts(open));
  describe(`${name}: exports`, () => describeExports(open));
  describe(`${name}: refused inserts`, () => describeRefusedInserts(open));
  describe(`${name}: deletions`, () => describeDeletions(open));
}

function describeQueries(open: () => ClickHouse): void {
  test('big numbers arrive as exact text, times as UTC', async () => {
    const rows = await open().query(`
      SELECT 18446744073709551615 AS big, toDecimal256('12345678901234567890.000000000000000001', 18) AS exact,
        toDateTime(0) AS epoch, 7 AS small, map('a', '1') AS pairs, CAST(NULL AS Nullable(String)) AS none`);
    expect(rows).toEqual([
      {
        big: '18446744073709551615',
        exact: '12345678901234567890.000000000000000001',
        epoch: '1970-01-01 00:00:00',
        small: 7,
        pairs: { a: '1' },
        none: null,
      },
    ]);
  });

  const hostile = `it's; DROP TABLE usage_events -- \\ "\n\t\0{x:String}`;
  test.each([
    ['String', 'Ünï', 'Ünï'],
    ['String', hostile, hostile],
    ['Array(String)', ['a', hostile], ['a', hostile]],
    ['Array(String)', [], []],
    ['UInt32', 4_294_967_295, 4_294_967_295],
    ['Int64', -9_007_199_254_740_991, '-9007199254740991'],
    ['Decimal(38, 18)', '0.000000000000000001', '0.000000000000000001'],
    ['Bool', true, true],
    ['Nullable(String)', null, null],
    ['DateTime', 1_750_000_000, '2025-06-15 15:06:40'],
  ])('a parameter of type %s is bound as it is: %j', async (type, value, expected) => {
    expect(await open().query(`SELECT {value:${type}} AS value`, { value })).toEqual([{ value: expected }]);
  });

  test('parameters of queries that run at the same time are not mixed up', async () => {
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const rows = await Promise.all(numbers.map((n) => open().query('SELECT {n:UInt8} AS n', { n })));
    expect(rows.flat()).toEqual(numbers.map((n) => ({ n })));
  });

  test('rows can be had as text, and be made of it elsewhere', async () => {
    const text = await open().queryText('SELECT {name:String} AS name, number FROM numbers(2)', {
      name: 'Ünï',
    });
    expect(parseRows(text)).toEqual([
      { name: 'Ünï', number: '0' },
      { name: 'Ünï', number: '1' },
    ]);
  });

  test('no rows are an empty list', async () => {
    expect(await open().query('SELECT 1 AS n WHERE 0')).toEqual([]);
  });

  test('an error of the engine names itself, and is not taken for an outage', async () => {
    const failed = open().query('SELECT nothing FROM nowhere');
    await expect(failed).rejects.toMatchObject({ type: 'UNKNOWN_TABLE' });
    expect(isClickHouseUnavailable(await failed.catch((error: unknown) => error))).toBe(false);
  });
}

const rowsOf = (...texts: string[]) => textRows('text', texts);

function createTexts(clickhouse: ClickHouse, table: string): Promise<void> {
  return clickhouse.command(`CREATE TABLE ${table} (text String, n UInt8 DEFAULT 7) ENGINE = MergeTree ORDER BY text
    SETTINGS non_replicated_deduplication_window = 100`);
}

async function textsIn(clickhouse: ClickHouse, table: string): Promise<string[]> {
  const rows = await clickhouse.query<{ text: string }>(`SELECT text FROM ${table} ORDER BY text`);
  return rows.map(({ text }) => text);
}

function describeInserts(open: () => ClickHouse): void {
  const create = (table: string) => createTexts(open(), table);
  const textsOf = (table: string) => textsIn(open(), table);

  test('binary data arrives whole, blank lines and quotes included', async () => {
    await create('whole');
    const texts = ['', '\n\n', '\n\nINSERT', `'; DROP TABLE whole; --`, 'z'];
    const bytes = rowsOf(...texts);
    const pieces = [bytes.subarray(0, 3), bytes.subarray(3, 5), bytes.subarray(5)];
    await open().insertRows('whole', ['text'], { bytes: pieces }, texts.length, 't1');
    expect(await textsOf('whole')).toEqual([...texts].sort());
  });

  test('several blocks are inserted as one, which a repetition finds whole', async () => {
    await create('in_blocks');
    const blocks = [rowsOf('a', 'b'), rowsOf('c'), rowsOf('d')];
    const counted = `SELECT count() AS parts, sum(rows) AS rows FROM system.parts
      WHERE database = currentDatabase() AND table = 'in_blocks' AND active`;
    for (let sent = 0; sent < 2; sent++) {
      await open().insertRows('in_blocks', ['text'], { bytes: blocks }, 4, 't1');
      expect(await open().query(counted)).toEqual([{ parts: '1', rows: '4' }]);
    }
  });

  test('a file is inserted as bytes are', async () => {
    await create('from_file');
    const folder = mkdtempSync(join(tmpdir(), "tollgate-it's-"));
    try {
      const file = join(folder, 'rows.gz'); // the name must not be taken for a compression
      writeFileSync(file, rowsOf('a', 'b'));
      await open().insertRows('from_file', ['text'], { file }, 2, 't1');
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(await textsOf('from_file')).toEqual(['a', 'b']);
  });

  test('a file that is not there is an error of this insert alone', async () => {
    await create('missing');
    const absent = open().insertRows('missing', ['text'], { file: '/nowhere/rows.bin' }, 1, 't1');
    await expect(absent).rejects.toThrow();
    await open().insertRows('missing', ['text'], { bytes: rowsOf('a') }, 1, 't1');
    expect(await textsOf('missing')).toEqual(['a']);
  });

  test('the same token inserts once; another inserts the same rows again', async () => {
    await create('repeated');
    for (const token of ['t1', 't1', 't2', 't1']) {
      await open().insertRows('repeated', ['text'], { bytes: rowsOf('a') }, 1, token);
    }
    expect(await textsOf('repeated')).toEqual(['a', 'a']);
  });
}

function describeExports(open: () => ClickHouse): void {
  test('exported rows can be inserted unchanged into another table', async () => {
    await createTexts(open(), 'exported');
    await createTexts(open(), 'imported');
    const texts = ['', `it's; DROP TABLE exported -- \n\n\0`, 'z'];
    await open().insertRows('exported', ['text'], { bytes: rowsOf(...texts, 'not this') }, 4, 't1');
    const bytes = await open().exportRows('SELECT text, n FROM exported WHERE text != {not:String}', {
      not: 'not this',
    });
    await open().insertRows('imported', ['text', 'n'], { bytes }, 3, 't2');
    expect(await textsIn(open(), 'imported')).toEqual([...texts].sort());
    expect(await open().exportRows('SELECT text FROM exported WHERE 0')).toHaveLength(0);
    await expect(open().exportRows('SELECT nothing FROM exported')).rejects.toMatchObject({
      type: 'UNKNOWN_IDENTIFIER',
    });
  });

  test('rows are exported up to a number of bytes, in the same session as others', async () => {
    await createTexts(open(), 'bounded');
    await open().insertRows('bounded', ['text'], { bytes: rowsOf('a'.repeat(10_000), 'z') }, 2, 't1');
    const sql = 'SELECT text FROM bounded WHERE text >= {from:String}';
    expect(await open().exportRowsUpTo(5_000, sql, { from: 'a' })).toBeUndefined();
    expect(await open().exportRowsUpTo(5_000, sql, { from: 'b' })).toEqual(
      await open().exportRows(sql, { from: 'b' }),
    );
    const all = await open().exportRowsUpTo(50_000, sql, { from: 'a' });
    expect(all?.length).toBeGreaterThan(10_000);
    await expect(open().exportRowsUpTo(5_000, 'SELECT nothing FROM bounded')).rejects.toMatchObject({
      type: 'UNKNOWN_IDENTIFIER',
    });
    expect(await textsIn(open(), 'bounded')).toHaveLength(2);
  });

  test('rows are returned up to a number of bytes, in the same session as others', async () => {
    await createTexts(open(), 'limited');
    await open().insertRows('limited', ['text'], { bytes: rowsOf('a'.repeat(10_000), 'z') }, 2, 't1');
    const sql = 'SELECT text FROM limited WHERE text >= {from:String} LIMIT 1 BY text';
    expect(await rowsUpTo(open(), 5_000, sql, { from: 'a' })).toBeUndefined();
    expect(await rowsUpTo(open(), 5_000, sql, { from: 'b' })).toEqual([{ text: 'z' }]);
    expect(await rowsUpTo(open(), 50_000, sql, { from: 'a' })).toHaveLength(2);
    await expect(rowsUpTo(open(), 5_000, 'SELECT nothing FROM limited')).rejects.toMatchObject({
      type: 'UNKNOWN_IDENTIFIER',
    });
    expect(await textsIn(open(), 'limited')).toHaveLength(2);
  });
}

function describeRefusedInserts(open: () => ClickHouse): void {
  test('rows that are cut short, or fewer than said, are an error', async () => {
    await createTexts(open(), 'short');
    const bytes = rowsOf('abc', 'def');
    const cut = open().insertRows('short', ['text'], { bytes: bytes.subarray(0, -1) }, 2, 't1');
    await expect(cut).rejects.toThrow();
    const fewer = open().insertRows('short', ['text'], { bytes }, 3, 't2');
    await expect(fewer).rejects.toThrow('took 2 rows into short where 3 were sent');
  });

  test.each(['bytes', 'file'])(
    'rows in %s that may not be inserted are not, and can be inserted later',
    async (kind) => {
      const table = `refused_${kind}`;
      await createTexts(open(), table);
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-refused-'));
      try {
        const [bytes, file] = [rowsOf('a', 'b'), join(folder, 'rows')];
        writeFileSync(file, bytes);
        const data = kind === 'file' ? { file } : { bytes };
        const insert = (confirm: () => Promise<void>) =>
          open().insertRows(table, ['text'], data, 2, 't1', confirm);
        const refusal = new Error('another process has the group');
        await expect(insert(() => Promise.reject(refusal))).rejects.toBe(refusal);
        expect(await open().query(`SELECT * FROM ${table}`)).toEqual([]);
        await insert(async () => {});
        expect(await open().query(`SELECT text FROM ${table}`)).toHaveLength(2);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  test('names and tokens that could be SQL are refused before anything is sent', async () => {
    const bytes = rowsOf('a');
    await expect(open().insertRows('a b', ['text'], { bytes }, 1, 't')).rejects.toThrow('is not a name');
    await expect(open().insertRows('a', ['`'], { bytes }, 1, 't')).rejects.toThrow('is not a name');
    await expect(open().insertRows('a', ['text'], { bytes }, 1, "t'")).rejects.toThrow(
      'cannot be an insert token',
    );
  });
}

function describeDeletions(open: () => ClickHouse): void {
  /** Creates a table with two rows in each of two months. */
  const create = async (table: string) => {
    await open().command(`CREATE TABLE ${table} (at DateTime('UTC'), owner String) ENGINE = MergeTree
      PARTITION BY toYYYYMM(at) ORDER BY owner`);
    await open().command(`INSERT INTO ${table} VALUES ('2026-01-31 23:59:59', 'a'), ('2026-01-31 23:59:59', 'b'),
      ('2026-02-01 00:00:00', 'a'), ('2026-02-01 00:00:00', 'b')`);
  };
  const rowsOf = (table: string) =>
    open().query(`SELECT toYYYYMM(at) AS month, owner FROM ${table} ORDER BY month, owner`);

  test('a month is dropped whole', async () => {
    await create('dropped');
    await open().command(`ALTER TABLE dropped DROP PARTITION ID '202601'`);
    expect(await rowsOf('dropped')).toEqual([
      { month: 202602, owner: 'a' },
      { month: 202602, owner: 'b' },
    ]);
  });

  test('the rows of some go out of a month in the background, and no others', async () => {
    await create('mutated');
    await open().command(
      `ALTER TABLE mutated DELETE IN PARTITION ID '202601' WHERE owner IN ('a') SETTINGS mutations_sync = 0`,
    );
    // A replica learns of the deletion from Keeper, a moment later, so its list of deletions can be empty before.
    expect(await holdsWithin(async () => (await rowsOf('mutated')).length < 4, 30_000, 20)).toBe(true);
    expect(await rowsOf('mutated')).toEqual([
      { month: 202601, owner: 'b' },
      { month: 202602, owner: 'a' },
      { month: 202602, owner: 'b' },
    ]);
  });
}
