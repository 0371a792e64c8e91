import { MEASURES, type Measure } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import {
  createTestClickHouse,
  failedRow,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { ProjectHistory, storageTables } from '../storage/index.js';
import { readInputs, type UsageEventRow, type UsageScope } from '../usage/index.js';
import { analyze, usedMetrics } from './index.js';

const DAY_S = 86_400;
const FROM_S = 20_240 * DAY_S;
const SPAN_S = 40 * DAY_S;
const EVENTS = 600;
const PAGE = { eventsMax: 1_000, bytesMax: 10_000_000 };
const NEVER = new AbortController().signal;
const CLOCK = new ManualClock((FROM_S + SPAN_S) * 1_000);

let house: TestClickHouse;
let rows: readonly UsageEventRow[];

beforeAll(async () => {
  house = await createTestClickHouse();
  rows = Array.from({ length: EVENTS }, (_, index) => rowOf(index));
  await house.provision(7);
  for (const storage of ['shared', 'dedicated'] as const) {
    await insertUsageRows(house.clickhouse, rows, storageTables({ storage, projectNo: 7 }).events);
  }
  // Other projects use the shared storage, none the other one.
  const others = rows.map((row) => ({ ...row, projectId: 'prj_other' }));
  await insertUsageRows(house.clickhouse, others);
});

afterAll(() => house.drop());

const costIn = (currency: string, amount: bigint) => ({
  ...{ amount, currency },
  ...{ ruleSetId: 'prs_cost', ruleSetVersion: 1, ruleName: 'cost' },
});

/** Spread over weeks, on second, minute and day boundaries too. */
function rowOf(index: number): UsageEventRow {
  const occurredAt = FROM_S + Math.floor((index * SPAN_S) / EVENTS) + (index % 4) * 19;
  if (index % 10 === 9) return failedRow({ occurredAt });
  return usageRow({
    occurredAt,
    subjectType: 'user',
    subjectId: `u${index % 5}`,
    dimensions: new Map([['model', `m${index % 3}`]]),
    items: [
      usageItem({
        quantity: stored(`${index}.000000000000000001`),
        amount: stored(`0.${index + 1}`),
        cost: costIn(index % 3 === 0 ? 'EUR' : 'USD', stored(`0.0${index + 1}`)),
      }),
      usageItem({ metric: 'llm.calls', unit: '', currency: index % 2 === 0 ? 'EUR' : '' }),
    ],
  });
}

const scopeOf = (storage: UsageScope['storage'], retainedFrom: number): UsageScope => ({
  ...{ tenantId: 'ten_1', projectId: 'prj_1', projectNo: 7 },
  storage,
  retainedFrom,
  excludedDimensions: [],
});

const moment = fc.integer({ min: FROM_S - DAY_S, max: FROM_S + SPAN_S + DAY_S });
const boundary = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 40 }).map((day) => FROM_S + day * DAY_S),
);

const questions = fc.record({
  range: fc.tuple(moment, moment).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) + 1 })),
  bucket_size: fc.constantFrom('auto', '7m', '1h', '1d', 'none') as fc.Arbitrary<never>,
  group_by: fc.subarray(['model', 'subject_type', 'subject_id']),
  measures: fc.subarray<Measure>([...MEASURES, 'unique:model', 'unique:@subject_id'], { minLength: 1 }),
  timezone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York'),
});

type Question = typeof questions extends fc.Arbitrary<infer Q> ? Q : never;

async function answersOf(scope: UsageScope, { range, ...query }: Question) {
  const { clickhouse } = house;
  const selection = { extractorRuleSetId: 'ers_1', ...range, share: 1 };
  return {
    analysis: await analyze(clickhouse, CLOCK, scope, {
      ...query,
      metrics: ['llm.tokens', 'llm.calls'],
      time_range: range,
    }),
    metrics: await usedMetrics(new ProjectHistory(clickhouse, scope)),
    events: await readInputs(new ProjectHistory(clickhouse, scope), selection, undefined, PAGE, NEVER),
  };
}

test('the same events give the same results in shared and in dedicated tables, however much is kept', async () => {
  await fc.assert(
    fc.asyncProperty(questions, boundary, async (question, retainedFrom) => {
      const shared = await answersOf(scopeOf('shared', retainedFrom), question);
      expect(await answersOf(scopeOf('dedicated', retainedFrom), question)).toEqual(shared);
    }),
    { numRuns: 15 },
  );
}, 120_000);

test('a query that begins before the boundary returns nothing from before it', async () => {
  const later = await createTestClickHouse();
  try {
    const retainedFrom = FROM_S + 13 * DAY_S;
    await insertUsageRows(
      later.clickhouse,
      rows.filter(({ occurredAt }) => occurredAt >= retainedFrom),
    );
    await fc.assert(
      fc.asyncProperty(questions, async (question) => {
        const cut = await answersOf(scopeOf('shared', retainedFrom), question);
        const [before, { clickhouse }] = [house, later];
        house = { ...before, clickhouse };
        const never = await answersOf(scopeOf('shared', 0), question).finally(() => {
          house = before;
        });
        expect(cut).toEqual(never);
      }),
      { numRuns: 10 },
    );
  } finally {
    await later.drop();
  }
}, 120_000);
