import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import {
  type CorrectedRows,
  correctedRows,
  createTestClickHouse,
  insertCorrections,
  insertUsageRows,
  type TestClickHouse,
  usageItem,
  usageRow,
  voidedRows,
} from '../../testing/index.js';
import { type HistoryScope, ProjectHistory, storageTables } from '../storage/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { analyze, usedMetrics } from './index.js';
import { usedNames } from './known-names-store.js';
import { DIMENSIONS, eventArbitrary, HOUR_S, queryArbitrary } from './oracle.testing.js';

const EVENTS = 160;
const QUERIES = 16;
const CLOCK = new ManualClock(1_800_000_000_000);
const STORAGES = ['shared', 'dedicated'] as const;
/** The project that got the present revisions alone, as if they had been sent in the first place. */
const PRESENT = 'prj_present';

let house: TestClickHouse;

beforeAll(async () => {
  house = await createTestClickHouse();
  await house.provision(7);
  const [originals, others] = [samples(1), samples(2)];
  const histories = originals.map((row, index) => correctionsOf(row, others[index] as UsageEventRow, index));
  const present = histories.map(([original, ...corrections]) => corrections.at(-1)?.next ?? original);
  for (const storage of STORAGES) {
    const { events } = storageTables({ storage, projectNo: 7 });
    await insertUsageRows(house.clickhouse, originals, events);
    for (let step = 1; step < 3; step++) {
      const applied = histories.flatMap((history) => history[step] ?? []) as CorrectedRows[];
      await insertCorrections(house.clickhouse, applied, events);
    }
    const plain = present.map((row) => ({ ...row, projectId: PRESENT, corrections: 0 }));
    await insertUsageRows(house.clickhouse, plain, events);
  }
});
afterAll(() => house.drop());

function samples(seed: number): UsageEventRow[] {
  return fc.sample(eventArbitrary, { numRuns: EVENTS, seed });
}

type History = readonly [UsageEventRow, ...CorrectedRows[]];

/** Leaves an event as it is, voids it, rates it anew, or takes a correction back. */
function correctionsOf(row: UsageEventRow, other: UsageEventRow, index: number): History {
  const { dimensions, excludedDimensions, items, subjectType, subjectId } = other;
  const replaced = { dimensions, excludedDimensions, items, subjectType, subjectId };
  const voided = voidedRows(row);
  const anew = correctedRows(row, replaced);
  const { status, posting } = row;
  const revived = correctedRows(voided.next, { items: row.items, status, posting });
  const histories: readonly History[] = [
    [row],
    [row, voided],
    [row, anew],
    [row, voided, revived],
    [row, anew, voidedRows(anew.next)],
  ];
  return histories[index % histories.length] as History;
}

function scopeOf(projectId: string, storage: HistoryScope['storage']): HistoryScope {
  return {
    ...{ tenantId: 'ten_1', projectId, projectNo: 7, storage },
    retainedFrom: 0,
    excludedDimensions: DIMENSIONS,
  };
}

const historyOf = (projectId: string, storage: HistoryScope['storage']) =>
  new ProjectHistory(house.clickhouse, scopeOf(projectId, storage));

async function mergeParts(): Promise<void> {
  for (const storage of STORAGES) {
    for (const table of Object.values(storageTables({ storage, projectNo: 7 })))
      await house.clickhouse.command(`OPTIMIZE TABLE ${table} FINAL`);
  }
}

/** The answers of every kind of query that this module has. */
async function answersOf(projectId: string, storage: HistoryScope['storage']) {
  const history = historyOf(projectId, storage);
  const scope = scopeOf(projectId, storage);
  const queries = fc.sample(queryArbitrary, { numRuns: QUERIES, seed: 3 });
  const unlike = { split_by: [], measures: ['quantity' as const], metrics: ['llm.tokens'] };
  const results: unknown[] = [];
  for (const query of [...queries, ...queries.map((each) => ({ ...each, ...unlike }))])
    results.push(await analyze(house.clickhouse, CLOCK, scope, query).catch(String));
  const { metrics, dimensions, subject_types: types } = await usedNames(history);
  return {
    results,
    metrics: await usedMetrics(history),
    names: [metrics, dimensions, types].map((names) => [...names].sort()),
  };
}

test('corrected usage gives the answers that its present revisions give alone, before and after merges', async () => {
  const expected = await answersOf(PRESENT, 'shared');
  expect(expected.metrics.length).toBeGreaterThan(1);
  expect(await answersOf('prj_1', 'shared')).toEqual(expected);
  await mergeParts();
  for (const storage of STORAGES) expect(await answersOf('prj_1', storage)).toEqual(expected);
}, 180_000);

test('the rollup has the sums of the present revisions in each resolution', async () => {
  const sumsOf = (projectId: string, rollup: string) =>
    house.clickhouse.query(
      `SELECT resolution, bucket, metric, unit, currency, subject_type, dimensions_hash, any(dimensions) AS dimensions,
         sum(item_count) AS items, sum(quantity) AS quantities, sum(amount) AS amounts
       FROM ${rollup} WHERE tenant_id = 'ten_1' AND project_id = {project:String}
       GROUP BY ALL HAVING items != 0 OR quantities != 0 OR amounts != 0 ORDER BY ALL`,
      { project: projectId },
    );
  for (const storage of STORAGES) {
    const { rollup } = storageTables({ storage, projectNo: 7 });
    const expected = await sumsOf(PRESENT, rollup);
    expect(new Set(expected.map((row) => (row as { resolution: number }).resolution)).size).toBe(3);
    expect(await sumsOf('prj_1', rollup)).toEqual(expected);
  }
});

/** The start of an hour. */
const AT_S = 1_750_000_000 - (1_750_000_000 % HOUR_S);
/** Each is read from another source. */
const RANGES = {
  hours: { from: AT_S, to: AT_S + HOUR_S },
  quarters: { from: AT_S, to: AT_S + 900 },
  minutes: { from: AT_S, to: AT_S + 60 },
  events: { from: AT_S, to: AT_S + 59 },
} as const;

test.each(Object.entries(RANGES))('a voided event leaves no row and no group in %s', async (name, range) => {
  const scope = { ...scopeOf(`prj_${name}`, 'shared'), excludedDimensions: [] };
  const row = (model: string, amount: bigint) =>
    usageRow({
      projectId: scope.projectId,
      occurredAt: AT_S + 7,
      dimensions: new Map([['model', model]]),
      items: [usageItem({ amount })],
    });
  const [kept, voided] = [row('kept', -5n), row('voided', 7n)];
  await insertUsageRows(house.clickhouse, [kept, voided]);
  const ask = (limit?: number) =>
    analyze(house.clickhouse, CLOCK, scope, {
      time_range: range,
      bucket_size: 'none',
      group_by: ['model'],
      measures: ['amount'],
      ...(limit === undefined ? {} : { limit }),
    });
  const before = JSON.stringify([await ask(), await ask(1)]);
  const correction = voidedRows(voided);
  await insertCorrections(house.clickhouse, [correction]);
  // The group that is left has the largest sum, although the voided one would have a larger one: 0.
  for (const { rows } of [await ask(), await ask(1)])
    expect(rows).toMatchObject([{ group: { model: 'kept' }, amount: '-0.000000000000000005' }]);
  const { items, status, posting } = voided;
  await insertCorrections(house.clickhouse, [correctedRows(correction.next, { items, status, posting })]);
  expect(JSON.stringify([await ask(), await ask(1)])).toBe(before);
});

test('a metric, a dimension and a subject type of which nothing is left are not known', async () => {
  const projectId = 'prj_discovery';
  const row = (occurredAt: number, model: string, metric = 'llm.tokens') =>
    usageRow({
      ...{ projectId, occurredAt, subjectType: model },
      dimensions: new Map([[model, 'x']]),
      items: [usageItem({ metric, currency: model })],
    });
  const kept = row(AT_S + 10, 'kept');
  const gone = [row(AT_S + 9, 'gone'), row(AT_S + 11, 'gone'), row(AT_S, 'kept', 'gone.metric')];
  await insertUsageRows(house.clickhouse, [kept, ...gone]);
  await insertCorrections(
    house.clickhouse,
    gone.map((row) => voidedRows(row)),
  );
  const history = historyOf(projectId, 'shared');
  expect(await usedMetrics(history)).toEqual([
    {
      ...{ metric: 'llm.tokens', unit: 'token', currencies: ['kept'], subject_types: ['kept'] },
      dimensions: [{ name: 'kept', cardinality: 1, sample_values: ['x'] }],
      unpriced_item_count: 0,
      first_seen_at: AT_S + 10,
      last_seen_at: AT_S + 10,
    },
  ]);
  expect(await usedNames(history)).toEqual({
    metrics: ['llm.tokens'],
    subject_types: ['kept'],
    dimensions: ['kept'],
  });
});
