import type { AnalysisQuery } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  createTestClickHouse,
  failedRow,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { ProjectHistory } from '../storage/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { expectedRows, sorted } from './expected-rows.testing.js';
import { normalizeQuery } from './normalize.js';
import { DIMENSIONS, eventArbitrary, HOSTILE_TEXTS, HOUR_S, queryArbitrary } from './oracle.testing.js';
import { analyze, planQuery } from './service.js';
import type { SourcePart } from './source.js';
import { analysisRows } from './store.js';

const SCOPE = { ...TEST_SCOPE, excludedDimensions: DIMENSIONS };
/** Many queries, on machines that may be busy. */
const TIMEOUT_MS = 180_000;
const CLOCK = new ManualClock(1_760_000_000_000);

let store: TestClickHouse;
let rows: UsageEventRow[];

beforeAll(async () => {
  store = await createTestClickHouse();
  rows = fc.sample(eventArbitrary, { numRuns: 600, seed: 7 });
  const failed = rows
    .slice(0, 20)
    .map((row) => failedRow({ id: Buffer.from(row.rawEventId).toString('hex'), occurredAt: row.occurredAt }));
  const others = [usageRow({ tenantId: 'ten_2' }), usageRow({ projectId: 'prj_2' })];
  await insertUsageRows(store.clickhouse, [...failed, ...others]);
  // Reprocessed events come again, with a greater attempt; batches are of any order.
  const attempts = rows.map((row, i) => ({ ...row, attempt: i < failed.length ? 1 : 0 }));
  await insertUsageRows(store.clickhouse, attempts.slice(0, 200));
  await insertUsageRows(store.clickhouse, attempts.slice(200));
});

afterAll(() => store.drop());

describe('an analysis query', () => {
  it(
    'answers the same numbers from every source, for every bucket size, group and filter, in every timezone',
    async () => {
      let answered = 0;
      await fc.assert(
        fc.asyncProperty(queryArbitrary, async (query) => {
          const expected = expectedRows(rows, query);
          const answer = await analyze(store.clickhouse, CLOCK, SCOPE, query);
          expect(sorted(answer.rows)).toEqual(expected);
          answered += Math.sign(expected.length);
          const planned = planQuery(normalizeQuery(query, 0), SCOPE);
          for (const sources of otherSources(query)) {
            const same = await analysisRows(new ProjectHistory(store.clickhouse, SCOPE), {
              ...planned,
              sources,
            });
            expect(same.rows).toEqual(answer.rows);
          }
        }),
        { numRuns: 40, seed: 11 },
      );
      expect(answered).toBeGreaterThan(20);
    },
    TIMEOUT_MS,
  );

  it('adds up the quantities of several metrics of one unit, and refuses those of several units', async () => {
    const scope = { ...SCOPE, projectId: 'prj_units' };
    const at = 1_740_000_000;
    const event = (occurredAt: number, ...items: Parameters<typeof usageItem>[0][]) =>
      usageRow({ projectId: scope.projectId, occurredAt, items: items.map((item) => usageItem(item)) });
    await insertUsageRows(store.clickhouse, [
      event(at, { metric: 'in', quantity: stored('1.5') }, { metric: 'out', quantity: stored('2') }),
      event(at + HOUR_S, { metric: 'time', unit: 'second', quantity: stored('7') }),
      event(at + 2 * HOUR_S, { metric: 'calls', unit: '', quantity: stored('1') }),
    ]);
    const ask = (over: Partial<AnalysisQuery>) =>
      analyze(store.clickhouse, CLOCK, scope, {
        time_range: { from: at, to: at + HOUR_S },
        bucket_size: 'none',
        split_by: [],
        measures: ['quantity', 'amount'],
        ...over,
      });
    expect((await ask({})).rows).toEqual([
      { bucket: null, metric: null, unit: null, currency: 'USD', group: {}, quantity: '3.5', amount: '0.02' },
    ]);
    const mixed = { time_range: { from: at, to: at + 2 * HOUR_S } };
    // Two buckets with different units cannot be compared either.
    for (const bucket_size of ['none', '1h']) {
      await expect(ask({ ...mixed, bucket_size })).rejects.toMatchObject({
        code: 'unlike_units',
        message: expect.stringContaining('(second, token)'),
        details: [{ path: 'measures' }],
      });
    }
    const unitless = { time_range: { from: at + HOUR_S, to: at + 3 * HOUR_S } };
    await expect(ask(unitless)).rejects.toThrow('(none, second)');
    expect((await ask({ ...mixed, metrics: ['in', 'out'] })).rows).toMatchObject([{ quantity: '3.5' }]);
    expect((await ask({ ...mixed, measures: ['amount'] })).rows).toMatchObject([{ amount: '0.03' }]);
    expect((await ask({ ...mixed, split_by: ['metric'] })).rows).toHaveLength(3);
  });

  it('says when there are more rows than the limit', async () => {
    const whole = await analyze(store.clickhouse, CLOCK, SCOPE, everything());
    expect(whole.truncated).toBe(false);
    const cut = await analyze(store.clickhouse, CLOCK, SCOPE, { ...everything(), limit: 3 });
    expect(cut).toMatchObject({ truncated: true, rows: whole.rows.slice(0, 3) });
    const exact = await analyze(store.clickhouse, CLOCK, SCOPE, {
      ...everything(),
      limit: whole.rows.length,
    });
    expect(exact.truncated).toBe(false);
  });

  it('ranks groups by the first measure over the whole range, and sums the others in each bucket', async () => {
    const from = 1_740_009_600; // 2025-02-20 00:00 UTC
    const query: AnalysisQuery = {
      metrics: ['ranked'],
      measures: ['amount', 'quantity'],
      time_range: { from, to: from + 2 * 24 * HOUR_S },
      bucket_size: '1d',
      group_by: ['model'],
      limit: 1,
    };
    const row = (model: string, day: number, quantity: string, amount: string) =>
      usageRow({
        projectId: 'prj_ranked',
        occurredAt: from + day * 24 * HOUR_S,
        dimensions: new Map(model === '' ? [] : [['model', model]]),
        items: [usageItem({ metric: 'ranked', quantity: stored(quantity), amount: stored(amount) })],
      });
    await insertUsageRows(store.clickhouse, [
      row('large', 0, '1', '5'),
      row('small', 0, '9', '3'),
      row('', 0, '9', '1'),
      row('large', 1, '1', '0.5'),
      row('small', 1, '9', '2'),
    ]);
    const scope = { ...SCOPE, projectId: 'prj_ranked' };
    const ask = async (over: Partial<AnalysisQuery>) =>
      (await analyze(store.clickhouse, CLOCK, scope, { ...query, ...over })).rows.map(
        ({ bucket, group, other, quantity, amount }) => [
          ((bucket ?? 0) - from) / (24 * HOUR_S),
          other ? 'other' : group.model,
          quantity,
          amount,
        ],
      );
    expect(await ask({})).toEqual([
      [0, 'large', '1', '5'],
      [0, 'other', '18', '4'],
      [1, 'large', '1', '0.5'],
      [1, 'other', '9', '2'],
    ]);
    expect(await ask({ measures: ['quantity', 'amount'] })).toEqual([
      [0, 'small', '9', '3'],
      [0, 'other', '10', '6'],
      [1, 'small', '9', '2'],
      [1, 'other', '1', '0.5'],
    ]);
    expect(await ask({ limit: 3 })).toEqual([
      [0, 'large', '1', '5'],
      [0, 'small', '9', '3'],
      [0, null, '9', '1'],
      [1, 'large', '1', '0.5'],
      [1, 'small', '9', '2'],
    ]);
  });

  it('finds nothing for unknown metrics, values and projects', async () => {
    for (const query of [
      { ...everything(), metrics: ['unknown'] },
      { ...everything(), metrics: HOSTILE_TEXTS },
      { ...everything(), filters: { unknown: { exists: true } } },
      {
        ...everything(),
        filters: Object.fromEntries(HOSTILE_TEXTS.map((name) => [name, { in: HOSTILE_TEXTS }])),
      },
    ]) {
      expect((await analyze(store.clickhouse, CLOCK, SCOPE, query)).rows).toEqual([]);
    }
    const foreign = { ...SCOPE, projectId: "prj_1' OR '1'='1" };
    expect((await analyze(store.clickhouse, CLOCK, foreign, everything())).rows).toEqual([]);
  });

  it('groups by an unknown dimension as by one that every event lacks', async () => {
    const { rows: groups } = await analyze(store.clickhouse, CLOCK, SCOPE, {
      ...everything(),
      bucket_size: 'none',
      group_by: ["'); DROP TABLE usage_events; --"],
    });
    expect(new Set(groups.flatMap(({ group }) => Object.values(group)))).toEqual(new Set([null]));
  });

  it('keeps every digit of sums beyond any double', async () => {
    const most = `${'9'.repeat(20)}.${'9'.repeat(18)}`;
    const scope = { ...SCOPE, projectId: 'prj_large' };
    const items = [1, 2, 3].map(() => usageItem({ quantity: stored(most), amount: stored(`-${most}`) }));
    await insertUsageRows(store.clickhouse, [usageRow({ projectId: 'prj_large', items })]);
    const { rows: sums } = await analyze(store.clickhouse, CLOCK, scope, everything());
    expect(sums).toMatchObject([
      {
        item_count: 3,
        quantity: '299999999999999999999.999999999999999997',
        amount: '-299999999999999999999.999999999999999997',
      },
    ]);
  });

  it('raises a bucket that would give too many points, and returns them', async () => {
    const answer = await analyze(store.clickhouse, CLOCK, SCOPE, {
      ...everything(),
      time_range: { from: 1_740_000_000, to: 1_740_000_000 + 1_500 * HOUR_S },
      bucket_size: '1m',
    });
    expect(answer.bucket_size).toBe('2h');
    expect(answer.rows.length).toBeGreaterThan(0);
  });
});

function everything(): AnalysisQuery {
  return { metrics: ['llm.tokens', 'llm.calls'], time_range: { from: 0, to: 1_800_000_000 } };
}

/** Other sources for the same query: the rollups, where they suffice, and the events. */
function otherSources(query: AnalysisQuery): SourcePart[][] {
  const { from, to, buckets, dimensions, filters, measures } = normalizeQuery(query, 0);
  const raw: SourcePart[] = [{ source: 'usage_events', spans: [{ from, to }] }];
  const named = [...dimensions, ...filters.map(([name]) => name), ...measures];
  const isOfEvents = named.some((name) =>
    /subject_id|@account_id|@pricing_source|^m[ai][xn]imum$|^p\d\d$/.test(name),
  );
  const isWhole = from % 60 === 0 && to % 60 === 0 && buckets.starts.every((start) => start % 60 === 0);
  if (isOfEvents || !isWhole) return [raw];
  return [raw, [{ source: 'usage_rollup_1m', spans: [{ from, to }] }]];
}
