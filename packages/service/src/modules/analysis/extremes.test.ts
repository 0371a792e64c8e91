import type { AnalysisQuery } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  correctedRows,
  createTestClickHouse,
  insertCorrections,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
  voidedRows,
} from '../../testing/index.js';
import { storageTables } from '../storage/index.js';
import { analyze } from './service.js';

const CLOCK = new ManualClock(1_800_000_000_000);
const HOUR_S = 3_600;
/** 2026-01-01 00:00 UTC. */
const FROM_S = 1_767_225_600;
const HOURS = 4;

let house: TestClickHouse;
let projectId = '';
let projects = 0;
beforeAll(async () => {
  house = await createTestClickHouse();
  await house.provision(7);
});
afterAll(() => house.drop());
beforeEach(() => {
  projectId = `prj_extremes_${++projects}`;
});

const query: AnalysisQuery = {
  time_range: { from: FROM_S, to: FROM_S + HOURS * HOUR_S },
  bucket_size: '1h',
  measures: ['minimum', 'maximum'],
};
const STORAGES = ['shared', 'dedicated'] as const;
type Storage = (typeof STORAGES)[number];
const tablesOf = (storage: Storage) => storageTables({ storage, projectNo: 7 });

const rowOf = (hour: number, quantity: string) =>
  usageRow({
    projectId,
    occurredAt: FROM_S + hour * HOUR_S + 30,
    items: [usageItem({ quantity: stored(quantity) })],
  });

/** Changes what the rollup says of the rows of the hours, so that a chart shows whether it was read from there. */
async function falsify(storage: Storage, change: string): Promise<void> {
  await house.clickhouse.command(
    `ALTER TABLE ${tablesOf(storage).rollup} UPDATE ${change}
     WHERE project_id = '${projectId}' AND compared_item_count > 0 SETTINGS mutations_sync = 2`,
  );
}

/** Returns the hour, the minimum and the maximum of each row, and the number of statements. */
async function extremesOf(storage: Storage, asked: AnalysisQuery = query) {
  let statements = 0;
  const clickhouse: Pick<ClickHouse, 'query'> = {
    query: async (...sent) => {
      statements++;
      return house.clickhouse.query(...sent);
    },
  };
  const scope = { ...TEST_SCOPE, projectId, storage, projectNo: 7, excludedDimensions: [] };
  const { rows } = await analyze(clickhouse, CLOCK, scope, asked);
  const found = rows.map(({ bucket, minimum, maximum }) => [
    (Number(bucket) - FROM_S) / HOUR_S,
    minimum,
    maximum,
  ]);
  return { found, statements };
}

it.each(STORAGES)('minimum and maximum are read from the rollup of %s tables', async (storage) => {
  await insertUsageRows(house.clickhouse, [rowOf(0, '3'), rowOf(0, '1')], tablesOf(storage).events);
  await insertUsageRows(house.clickhouse, [rowOf(0, '2.5'), rowOf(2, '-7')], tablesOf(storage).events);
  const expected = [
    [0, '1', '3'],
    [2, '-7', '-7'],
  ];
  expect(await extremesOf(storage)).toEqual({ found: expected, statements: 1 });
  await falsify(storage, 'minimum = minimum - 1');
  const { found } = await extremesOf(storage);
  expect(found).toEqual([
    [0, '0', '3'],
    [2, '-8', '-7'],
  ]);
});

it.each(STORAGES)('hours with reversal rows are read from the events of %s tables', async (storage) => {
  const { events } = tablesOf(storage);
  const [least, greatest, other, voided] = [rowOf(1, '1'), rowOf(1, '9'), rowOf(2, '4'), rowOf(3, '6')];
  const rows = [least, greatest, rowOf(1, '5'), rowOf(0, '2'), other, voided];
  await insertUsageRows(house.clickhouse, rows, events);
  const replaced = correctedRows(least, { items: [usageItem({ quantity: stored('3') })] });
  const corrections = [replaced, voidedRows(greatest), voidedRows(voided)];
  await insertCorrections(house.clickhouse, corrections, events);
  // The other hours are still read from the rollup.
  await falsify(storage, 'minimum = -100');
  const hours = [
    [0, '-100', '2'],
    [1, '3', '5'],
    [2, '-100', '4'],
  ];
  expect(await extremesOf(storage)).toEqual({ found: hours, statements: 3 });
  const reverted = correctedRows(replaced.next, { items: least.items });
  await insertCorrections(house.clickhouse, [reverted], events);
  await insertUsageRows(house.clickhouse, [rowOf(1, '0.5')], events);
  const { found } = await extremesOf(storage);
  expect(found).toEqual([hours[0], [1, '0.5', '5'], hours[2]]);
});

it('hours with usage from before quantities were compared are read from the events', async () => {
  await insertUsageRows(house.clickhouse, [rowOf(0, '3'), rowOf(0, '1'), rowOf(1, '4')]);
  await falsify('shared', 'minimum = NULL, maximum = NULL, compared_item_count = 0');
  await insertUsageRows(house.clickhouse, [rowOf(0, '2'), rowOf(2, '8')]);
  await house.clickhouse.command('OPTIMIZE TABLE usage_rollup FINAL');
  const { found } = await extremesOf('shared');
  expect(found).toEqual([
    [0, '1', '3'],
    [1, '4', '4'],
    [2, '8', '8'],
  ]);
});

it('what a correction leaves of an amount is no quantity', async () => {
  const row = rowOf(0, '3');
  await insertUsageRows(house.clickhouse, [row, rowOf(1, '5')]);
  const remainder = usageItem({ quantity: 0n, source: 'correction' });
  await insertCorrections(house.clickhouse, [correctedRows(row, { items: [...row.items, remainder] })]);
  const { found } = await extremesOf('shared');
  expect(found).toEqual([
    [0, '3', '3'],
    [1, '5', '5'],
  ]);
});

it('groups, filters and units are those of sums', async () => {
  const model = (name: string, quantity: string) => ({
    ...rowOf(0, quantity),
    dimensions: new Map([['model', name]]),
  });
  const countered = model('b', '1');
  await insertUsageRows(house.clickhouse, [model('a', '3'), model('a', '2'), countered, model('b', '7')]);
  await insertCorrections(house.clickhouse, [voidedRows(countered)]);
  const filtered = { ...query, filters: { model: { in: ['a'] } } };
  expect(await extremesOf('shared', filtered)).toEqual({ found: [[0, '2', '3']], statements: 1 });
  const split: AnalysisQuery = { ...query, split_by: [], group_by: ['model'], limit: 1 };
  const { found } = await extremesOf('shared', split);
  expect(found).toEqual(
    expect.arrayContaining([
      [0, '2', '3'],
      [0, '7', '7'],
    ]),
  );
});
