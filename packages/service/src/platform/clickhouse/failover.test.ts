import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { newScratchFolder } from '../../testing/scratch-folder.js';
import { textRows } from './blocks.testing.js';
import { FailoverClickHouse } from './failover.js';
import { openClickHouseServer } from './open-server.js';
import type { ClickHouse } from './port.js';
import { connectClickHouse } from './server.js';

/** A replica that answers with its name, or with an error. */
function replica(name: string, state: { error?: Error; asked: number }): ClickHouse {
  const answer = async () => {
    state.asked += 1;
    if (state.error !== undefined) throw state.error;
    return [{ name }];
  };
  return { query: answer, upToDate: async () => ({ query: answer }) } as unknown as ClickHouse;
}

const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

function twoReplicas() {
  const [one, two] = [{ asked: 0 }, { asked: 0 }] as [
    { error?: Error; asked: number },
    { error?: Error; asked: number },
  ];
  const clickhouse = new FailoverClickHouse([replica('one', one), replica('two', two)]);
  return { one, two, clickhouse, ask: () => clickhouse.query<{ name: string }>('SELECT 1') };
}

describe('replicas', () => {
  test('are used one at a time, the first until it fails, then the second until that fails', async () => {
    const { one, two, ask } = twoReplicas();
    expect([await ask(), await ask()]).toEqual([[{ name: 'one' }], [{ name: 'one' }]]);
    one.error = REFUSED;
    expect(await ask()).toEqual([{ name: 'two' }]);
    delete one.error;
    expect(await ask()).toEqual([{ name: 'two' }]);
    two.error = Object.assign(new Error('Table is in readonly mode'), {
      code: '242',
      type: 'TABLE_IS_READ_ONLY',
    });
    expect(await ask()).toEqual([{ name: 'one' }]);
  });

  test('that are all lost are asked once for each call', async () => {
    const { one, two, ask } = twoReplicas();
    one.error = REFUSED;
    two.error = REFUSED;
    await expect(ask()).rejects.toBe(REFUSED);
    expect([one.asked, two.asked]).toEqual([1, 1]);
  });

  test('are not asked again for a mistake, and one that hung is left for the next call', async () => {
    const { one, two, ask } = twoReplicas();
    one.error = Object.assign(new Error('Syntax error'), { code: '62', type: 'SYNTAX_ERROR' });
    await expect(ask()).rejects.toThrow('Syntax error');
    expect([one.asked, two.asked]).toEqual([1, 0]);
    one.error = new Error('Timeout error.');
    await expect(ask()).rejects.toThrow('Timeout');
    expect([one.asked, two.asked]).toEqual([2, 0]);
    expect(await ask()).toEqual([{ name: 'two' }]);
  });

  test('give up-to-date reads that stay with their replica', async () => {
    const { one, clickhouse } = twoReplicas();
    const reader = await clickhouse.upToDate(['t']);
    one.error = REFUSED;
    await expect(reader.query('SELECT 1')).rejects.toBe(REFUSED);
  });
});

describe('a URL with several hosts', () => {
  let store: TestClickHouse;
  beforeAll(async () => {
    store = await createTestClickHouse();
    await store.clickhouse.command('CREATE TABLE t (text String) ENGINE = MergeTree ORDER BY text');
  });
  afterAll(() => store.drop());

  const folder = newScratchFolder('failover-');
  const file = join(folder, 'rows');
  writeFileSync(file, textRows('text', ['a']));

  test.each<[string, (clickhouse: ClickHouse) => Promise<unknown>]>([
    ['query', (clickhouse) => clickhouse.query('SELECT text FROM t')],
    ['query', (clickhouse) => clickhouse.queryText('SELECT text FROM t')],
    ['export', (clickhouse) => clickhouse.exportRows('SELECT text FROM t')],
    ['bounded export', (clickhouse) => clickhouse.exportRowsUpTo(1_000, 'SELECT text FROM t')],
    ['statement', (clickhouse) => clickhouse.command('TRUNCATE TABLE t')],
    ['up-to-date read', (clickhouse) => clickhouse.upToDate(['t'])],
    [
      'insert',
      (clickhouse) => clickhouse.insertRows('t', ['text'], { bytes: textRows('text', ['a']) }, 1, 't1'),
    ],
    ['insert of a file', (clickhouse) => clickhouse.insertRows('t', ['text'], { file }, 1, 't2')],
  ])('passes over a host that is away: %s', async (_kind, call) => {
    const closed = 'http://127.0.0.1:1/none';
    const clickhouse = new FailoverClickHouse([
      connectClickHouse({ url: closed }),
      connectClickHouse({ url: store.url }),
    ]);
    await call(clickhouse);
    await clickhouse.close();
  });

  test('opens with one of them away', async () => {
    const url = store.url.replace('http://', 'http://127.0.0.1:1,');
    const clickhouse = await openClickHouseServer({ url, clusterName: undefined, place: 'test' });
    expect(await clickhouse.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(clickhouse.systemTable('parts')).toContain('system.parts');
    await clickhouse.close();
  });
});
