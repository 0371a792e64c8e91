import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { fromStored, toText } from '../../../kernel/decimal.js';
import { present } from '../../../kernel/present.js';
import { stored } from '../../../testing/index.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import { openRules } from '../check/limit-status.js';
import { readUsage } from '../check/limit-status-store.js';
import { PostingFixture } from './posting.testing.js';
import { createSlidingWindowJob } from './sliding-job.js';
import { bySecond, DURATION_S, LIMIT, NOTIFY_AT, SlidingOracle, STEP_S } from './sliding-oracle.testing.js';
import type { TestUsage } from './usage.testing.js';

let fixture: PostingFixture;

beforeAll(async () => {
  fixture = await PostingFixture.create();
});
afterAll(() => fixture.drop());

async function start(): Promise<void> {
  await fixture.reset();
  await fixture.publish('ulp_1', [
    { key: 'spend', limit: LIMIT, period: 'sliding:1h', notifyAt: NOTIFY_AT },
    { key: 'day', limit: '100' },
  ]);
  await fixture.route({ planId: 'ulp_1' });
}

const nowS = () => Math.floor(fixture.clock.nowMs() / 1_000);

/** Returns the usage of the sliding window of a subject, as checks and snapshots read it. */
async function used(id = 'u1', atS = nowS()): Promise<string> {
  const { projectId, projectNo } = fixture.project;
  const ref = { projectId, subjectType: 'user', subjectId: id };
  const routes = await fixture.catalog.read(fixture.postgres.db, [ref]);
  const route = present(routes.resolve(projectId, 'user', id), 'the route');
  const at = { level: 0, subject: { type: 'user', id }, route };
  const rules = openRules(
    route.rules.rules.map((rule) => ({ at, rule })),
    atS,
  );
  const asked = rules.map((open) => ({ ...open, value: undefined }));
  const [read] = await readUsage(fixture.postgres, [
    { projectId, projectNo, rules: asked, wallet: undefined },
  ]);
  return toText(fromStored(present(read?.counted[0], 'the usage of the window').used));
}

/** Returns the alerts of the sliding limit in the order in which they were sent. */
async function alerts(): Promise<string[]> {
  const rows = await fixture.rows(
    `select type, payload::json -> 'data' as data from webhook_messages order by created_at_ms, id`,
  );
  return rows.map(({ type, data }) => {
    const { threshold_percent, sequence, used_amount } = data as Record<string, unknown>;
    return `${String(type).slice('usage_limit.'.length)} ${threshold_percent}#${sequence} at ${used_amount}`;
  });
}

const usage = (awayS: number, amount = '1', fields: TestUsage = {}): TestUsage => ({
  ...{ atS: nowS() + awayS, items: [{ amount }] },
  ...fields,
});

describe('a sliding window', () => {
  beforeEach(start);

  it('has the usage of the last duration, for at most a step too long', async () => {
    await fixture.post([usage(0, '1'), usage(-DURATION_S + 1, '2'), usage(-DURATION_S - STEP_S, '4')]);
    expect(await used()).toBe('3');
    fixture.clock.advanceMs(STEP_S * 1_000);
    expect(await used()).toBe('1');
    fixture.clock.advanceMs((DURATION_S - STEP_S - 1) * 1_000);
    expect(await used()).toBe('1');
    fixture.clock.advanceMs((STEP_S + 1) * 1_000);
    expect(await used()).toBe('0');
  });

  it('counts usage that is ahead when its time comes, to the second', async () => {
    await fixture.post([usage(90, '2'), usage(95, '3'), usage(95, '1', { subject: 'u2' })]);
    expect(await used()).toBe('0');
    fixture.clock.advanceMs(90_000);
    expect(await used()).toBe('2');
    await fixture.post([usage(0, '0.5')]);
    fixture.clock.advanceMs(5_000);
    expect(await used()).toBe('5.5');
    expect(await used('u2')).toBe('1');
  });

  it('keeps one row for each step, and drops those that do not count any more', async () => {
    await fixture.post(Array.from({ length: 120 }, (_, second) => usage(second)));
    expect(await rowCount()).toBe(120);
    fixture.clock.advanceMs(120_000);
    await fixture.post([usage(0)]);
    expect(await rowCount()).toBeLessThanOrEqual(4);
    expect(await used()).toBe('121');
    fixture.clock.advanceMs(2 * DURATION_S * 1_000);
    await fixture.post([usage(0)]);
    expect(await rowCount()).toBe(1);
  });

  it('takes usage back from its step', async () => {
    await fixture.post([usage(-100, '3'), usage(40, '2')]);
    await fixture.post([usage(-100, '3', { isReversal: true }), usage(40, '2', { isReversal: true })]);
    expect(await used()).toBe('0');
    fixture.clock.advanceMs(40_000);
    expect(await used()).toBe('0');
  });

  it('is alerted again only after a fall, which the next usage reports', async () => {
    await fixture.post([usage(0, '2')]);
    await fixture.post([usage(0, '1')]);
    expect(await alerts()).toEqual(['threshold_reached 50#1 at 2']);
    fixture.clock.advanceMs(2 * DURATION_S * 1_000);
    await fixture.post([usage(0, '2')]);
    expect((await alerts()).slice(1)).toEqual(['recovered 50#1 at 0', 'threshold_reached 50#2 at 2']);
    await fixture.post([usage(0, '2')]);
    await fixture.post([usage(0, '2', { isReversal: true })]);
    expect((await alerts()).slice(3)).toEqual(['exceeded 100#1 at 4', 'recovered 100#1 at 2']);
  });

  it('drops ended steps of idle subjects, and reports the fall', async () => {
    await fixture.post([usage(0, '2'), usage(STEP_S, '2'), usage(0, '1', { subject: 'u2' })]);
    fixture.clock.advanceMs(STEP_S * 1_000);
    expect(await settle()).toBe(0);
    fixture.clock.advanceMs(DURATION_S * 1_000);
    expect(await settle()).toBe(2);
    // The usage that was ahead had been counted meanwhile, without a batch that could alert it.
    expect(await alerts()).toEqual(['threshold_reached 50#1 at 2']);
    expect(await rowCount()).toBe(1);
    fixture.clock.advanceMs(STEP_S * 1_000);
    expect(await settle()).toBe(1);
    expect((await alerts()).slice(1)).toEqual(['recovered 50#1 at 0']);
    expect(await rowCount()).toBe(0);
    expect(await settle()).toBe(0);
  });

  it('drops the steps of a rule that is gone, without an alert', async () => {
    await fixture.post([usage(0, '2'), usage(0, '1', { subject: 'u2' })]);
    await fixture.publish('ulp_1', [{ key: 'day', limit: '100' }]);
    fixture.clock.advanceMs((DURATION_S + STEP_S) * 1_000);
    expect(await settle()).toBe(2);
    expect(await rowCount()).toBe(0);
    expect(await alerts()).toEqual(['threshold_reached 50#1 at 2']);
  });

  it('has neither a start nor a reset time', async () => {
    await fixture.post([usage(0, '4')]);
    const [message] = await fixture.rows(
      `select payload::json -> 'data' as data from webhook_messages limit 1`,
    );
    expect(message?.data).toMatchObject({ window_id: 'sliding:1h', period: 'sliding:1h', limit_amount: '4' });
    expect(message?.data).not.toHaveProperty('next_reset_at');
    expect(await fixture.windows()).toHaveLength(1);
  });

  it('takes a changed limit at once', async () => {
    await fixture.post([usage(0, '3')]);
    fixture.clock.advanceMs(1);
    await fixture.publish('ulp_1', [
      { key: 'spend', limit: '3.5', period: 'sliding:1h', notifyAt: NOTIFY_AT },
    ]);
    await fixture.post([usage(0, '0.5')]);
    expect(await alerts()).toEqual(['threshold_reached 50#1 at 3', 'exceeded 100#1 at 3.5']);
  });
});

/** Does what the job of idle subjects does; returns the number of windows that it has changed. */
function settle(): Promise<number> {
  const { postgres, catalog, clock } = fixture;
  return createSlidingWindowJob({ postgres, catalog, clock, log: { warn: () => {} } }).sweep();
}

async function rowCount(): Promise<number> {
  const rows = await fixture.rows('select from sliding_steps');
  return rows.length;
}

const event = fc.record({
  awayS: fc.oneof(
    fc.constantFrom(
      0,
      1,
      59,
      60,
      61,
      -1,
      -59,
      -60,
      -DURATION_S,
      -DURATION_S + 1,
      -DURATION_S - STEP_S,
      -DURATION_S - 1,
    ),
    fc.integer({ min: -DURATION_S - 200, max: 300 }),
  ),
  amount: fc.constantFrom('0', '0.000000000000000001', '0.5', '1', '2', '-1'),
});
const step = fc.record({
  events: fc.array(event, { maxLength: 6 }),
  waitS: fc.oneof(
    fc.constantFrom(0, 1, 59, 60, DURATION_S - 1, DURATION_S),
    fc.integer({ min: 0, max: 5_000 }),
  ),
  isSettled: fc.boolean(),
});

it('is what its definition says, and bounded by the exact usage', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      await start();
      const oracle = new SlidingOracle();
      const isRising = steps.every(({ events }) => events.every(({ amount }) => !amount.startsWith('-')));
      for (const { events, waitS, isSettled } of steps) {
        const posted = events.map(({ awayS, amount }) => ({ atS: nowS() + awayS, amount: stored(amount) }));
        await fixture.post(events.map(({ awayS, amount }) => usage(awayS, amount)));
        // Usage that adds up to nothing in each second changes nothing, and is not compared.
        if ([...bySecond(posted).values()].some((sum) => sum !== 0n)) oracle.post(posted, nowS());
        fixture.clock.advanceMs(waitS * 1_000);
        const atS = nowS();
        if (isSettled) {
          await settle();
          oracle.settle(atS);
        }
        const found = stored(await used());
        expect(found).toBe(oracle.used(atS));
        if (!isRising) continue;
        expect(found).toBeGreaterThanOrEqual(oracle.between(atS - DURATION_S, atS));
        expect(found).toBeLessThanOrEqual(oracle.between(atS - DURATION_S - STEP_S, atS));
      }
      expect((await alerts()).sort()).toEqual(oracle.alerts.sort());
    }),
    { numRuns: propertyRuns(40) },
  );
}, 120_000);

/** Returns how many pages each of the statements visits that concern the steps of sliding windows. */
async function pagesOf(work: () => Promise<unknown>): Promise<number[]> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const queries = spy.mock.calls.map(([query, values]) => {
    const { text, values: own } = query as { text?: string; values?: unknown[] };
    return { text: text ?? String(query), values: own ?? (values as unknown as unknown[]) };
  });
  spy.mockRestore();
  const pages: number[] = [];
  const client = await fixture.postgres.pool.connect();
  for (const { text, values } of queries.filter((query) => query.text.includes('sliding_steps'))) {
    await client.query('begin');
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
    await client.query('rollback');
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    pages.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
  }
  client.release();
  return pages;
}

it('does not read usage that is ahead, however much there is', async () => {
  await start();
  const now: TestUsage = { atS: nowS(), items: [{ amount: '1' }] };
  await fixture.post([now, { ...now, atS: nowS() + 1 }]);
  await fixture.rows(
    `insert into sliding_steps select project_no, subject_type, subject_id, rule_no, step_start + n * 60,
       step_end + n * 60, step_start + n * 60, counts_until + n * 60, used, opened_at_ms
     from sliding_steps, generate_series(1, 20000) as n where counts_from > step_start`,
  );
  await fixture.rows('vacuum analyze sliding_steps');
  const pages = [...(await pagesOf(() => fixture.post([now]))), ...(await pagesOf(() => used()))];
  // Reads before and after, deletions, additions, and the read of a check.
  expect(pages).toHaveLength(6);
  expect(pages.filter((count) => count > 50)).toEqual([]);
});
