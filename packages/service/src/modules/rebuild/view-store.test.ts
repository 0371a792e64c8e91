import { afterEach, beforeEach, expect, test } from 'vitest';
import { areViewsHalfReplaced, type ClickHouse, outdatedViews } from '../../platform/clickhouse/index.js';
import { withAdvisoryLock } from '../../platform/postgres/index.js';
import {
  correctedRows,
  createTestClickHouse,
  createTestPostgres,
  insertUsageRows,
  restoreFormerViews,
  stored,
  type TestClickHouse,
  type TestPostgres,
  usageItem,
  usageRow,
  voidedRows,
  waitFor,
} from '../../testing/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { replaceViews } from './view-store.js';

let store: TestPostgres;
let house: TestClickHouse;
beforeEach(async () => {
  [store, house] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
  await house.provision(7);
  for (const suffix of ['', ...SUFFIXES]) await restoreFormerViews(house.clickhouse, suffix);
});
afterEach(() => Promise.all([store.drop(), house.drop()]));

const SUFFIXES = ['_7'];
/** One view is replaced and three are dropped, of two tables. */
const CHANGES = 8;
const deps = (clickhouse = house.clickhouse) => ({ postgres: store.postgres, clickhouse });
const areHalfReplaced = () => areViewsHalfReplaced(house.clickhouse, async () => SUFFIXES);
const outdated = async () => (await outdatedViews(house.clickhouse, SUFFIXES)).length;

/** Returns a ClickHouse that runs some statements, and then fails. */
function failing(statements: number, error: Error): ClickHouse {
  let left = statements;
  const { clickhouse } = house;
  return Object.assign(Object.create(clickhouse), {
    query: clickhouse.query.bind(clickhouse),
    insertsEnded: clickhouse.insertsEnded.bind(clickhouse),
    upToDate: clickhouse.upToDate.bind(clickhouse),
    reachesAll: clickhouse.reachesAll.bind(clickhouse),
    command: (sql: string) => (left-- > 0 ? clickhouse.command(sql) : Promise.reject(error)),
  });
}

test('views of earlier releases are replaced, but not while a projector works, or by a user who may not', async () => {
  expect(await outdated()).toBe(CHANGES);
  await withAdvisoryLock(store.postgres, PROJECTOR_LOCK, () => replaceViews(deps(), SUFFIXES));
  expect(await outdated()).toBe(CHANGES);
  const denied = Object.assign(new Error('denied'), { type: 'ACCESS_DENIED' });
  await replaceViews(deps(failing(0, denied)), SUFFIXES);
  expect(await outdated()).toBe(CHANGES);
  await replaceViews(deps(), SUFFIXES);
  expect(await outdated()).toBe(0);
});

test.each([
  `insert into usage_batches (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids,
     bytes, insert_group) values (0, 0, 1, 1, 1, '{}', '', 1)`,
  `insert into tenant_moves values ('ten_1', 'mov_1', 'arriving', 0)`,
  'update projection_state set rebuild_since_ms = 0',
])('they stay while an insert that they began may be repeated: %s', async (begins) => {
  await store.postgres.pool.query(begins);
  await replaceViews(deps(), SUFFIXES);
  expect(await outdated()).toBe(CHANGES);
  expect(await areHalfReplaced()).toBe(false);
});

test.each([1, 2, 3, 5, 7])(
  'after an end at statement %i no rows are inserted until the rest is done',
  async (done) => {
    await expect(replaceViews(deps(failing(done, new Error('killed'))), SUFFIXES)).rejects.toThrow('killed');
    expect(await areHalfReplaced()).toBe(true);
    // A projector of a release that does not check the views has begun a group since.
    await store.postgres.pool.query('update projection_state set rebuild_since_ms = 0');
    await replaceViews(deps(), SUFFIXES);
    expect(await outdated()).toBe(0);
    expect(await areHalfReplaced()).toBe(false);
  },
);

test('a process that has lost the lock of the projectors changes nothing more', async () => {
  const endSession = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`;
  const losing = Object.assign(failing(CHANGES, new Error('unused')), {
    command: async (sql: string) => {
      await house.clickhouse.command(sql);
      await store.postgres.pool.query(endSession);
    },
  });
  await expect(replaceViews(deps(losing), SUFFIXES)).rejects.toThrow();
  expect(await outdated()).toBe(CHANGES - 1);
});

test('the rest is also done when a projector checks the views at this moment', async () => {
  await expect(replaceViews(deps(failing(1, new Error('killed'))), SUFFIXES)).rejects.toThrow('killed');
  let queries = 0;
  const query: ClickHouse['query'] = (...asked) => {
    queries++;
    return house.clickhouse.query(...asked);
  };
  const clickhouse = Object.assign(failing(CHANGES, new Error('killed')), { query });
  const replacing = await withAdvisoryLock(store.postgres, PROJECTOR_LOCK, async () => {
    const started = replaceViews(deps(clickhouse), SUFFIXES);
    await waitFor(() => queries >= 2);
    return [started];
  });
  await Promise.all(replacing);
  expect(await outdated()).toBe(0);
});

test('they stay while a replica is away', async () => {
  const clickhouse = Object.assign(failing(CHANGES, new Error('away')), { reachesAll: async () => false });
  await replaceViews(deps(clickhouse), SUFFIXES);
  expect(await outdated()).toBe(CHANGES);
});

test('between the tables of two projects, each has all former views or the new one', async () => {
  await expect(replaceViews(deps(failing(4, new Error('killed'))), SUFFIXES)).rejects.toThrow('killed');
  expect(await areHalfReplaced()).toBe(false);
  expect(await outdated()).toBe(CHANGES / 2);
});

const COST = { ruleSetId: 'crs_1', ruleSetVersion: 1, ruleName: 'cost', amount: stored('0.004') };
const ITEMS = [
  usageItem(),
  usageItem({ quantity: stored('3'), amount: stored('0.003'), cost: { ...COST, currency: 'USD' } }),
  usageItem({ metric: 'requests', cost: { ...COST, currency: 'EUR' } }),
  usageItem({ metric: 'requests', currency: 'EUR' }),
  usageItem({ metric: 'storage', currency: '', unitPrice: null, amount: 0n, pricingSource: 'unpriced' }),
  usageItem({ metric: 'storage', currency: '', amount: 0n, cost: { ...COST, currency: 'USD' } }),
];

/** Returns events as they were sent, voided, rated anew, and with a remainder. */
function rowsOfAllKinds(): UsageEventRow[] {
  const time = (at: number) => ({ occurredAt: 1_750_000_000 + at * 40 });
  const [sent, voided, anew, remaining] = [0, 1, 2, 3].map((at) =>
    usageRow({
      ...time(at),
      items: ITEMS,
      dimensions: new Map([
        ['model', `m${at % 2}`],
        ['request', `r${at}`],
      ]),
      excludedDimensions: at === 3 ? ['request'] : [],
    }),
  ) as [UsageEventRow, UsageEventRow, UsageEventRow, UsageEventRow];
  const remainder = usageItem({
    source: 'correction',
    quantity: 0n,
    unitPrice: null,
    amount: stored('-0.002'),
  });
  const second = correctedRows(remaining, { items: [...ITEMS, remainder] });
  const third = correctedRows(second.next, { items: ITEMS });
  const corrections = [voidedRows(voided), correctedRows(anew, { items: ITEMS.slice(1) }), second, third];
  return [sent, voided, anew, remaining, ...corrections.flatMap(({ reversal, next }) => [reversal, next])];
}

const SUMS = [
  'item_count',
  'countered_item_count',
  'compared_item_count',
  'cost_count',
  'quantity',
  'amount',
  'cost',
].map((column) => `toString(sum(${column})) AS ${column}`);
const sumsOf = (rollup: string) =>
  house.clickhouse.query<Record<string, unknown>>(
    `SELECT resolution, metric, bucket, unit, currency, hex(dimensions_hash) AS hash, any(dimensions) AS dimensions,
       any(raw_only) AS raw_only, ${SUMS.join(', ')}, toString(min(minimum)) AS minimum, toString(max(maximum)) AS maximum,
       min(first_seen_at) AS first_seen, max(last_seen_at) AS last_seen
     FROM ${rollup} GROUP BY resolution, metric, bucket, unit, currency, dimensions_hash
     ORDER BY resolution, metric, bucket, unit, currency, hash`,
  );

test('one view sums corrections, remainders and costs as the four did', async () => {
  const rows = rowsOfAllKinds();
  await insertUsageRows(house.clickhouse, rows, 'usage_events_7');
  await replaceViews(deps(), SUFFIXES);
  await insertUsageRows(house.clickhouse, rows);
  const former = await sumsOf('usage_rollup_7');
  expect(former.length).toBeGreaterThan(20);
  for (const column of ['cost_count', 'countered_item_count', 'compared_item_count', 'raw_only'])
    expect(new Set(former.map((row) => String(row[column]))).size).toBeGreaterThan(1);
  expect(await sumsOf('usage_rollup')).toEqual(former);
});

test('the rollup gets all that a correction changes in a month at once', async () => {
  await replaceViews(deps(), SUFFIXES);
  await house.clickhouse.command('SYSTEM STOP MERGES usage_rollup');
  await insertUsageRows(house.clickhouse, rowsOfAllKinds());
  const parts = await house.clickhouse.query(
    `SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'usage_rollup' AND active`,
  );
  expect(parts).toHaveLength(1);
});
