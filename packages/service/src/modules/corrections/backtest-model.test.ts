import { type BacktestResult, COUNTER_AGGREGATES } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedRules } from './counted.testing.js';
import { anyScope } from './counted-model.testing.js';
import { CorrectionsProject, type TestContent } from './project.testing.js';
import { anyPriceOfTotal } from './total-prices.testing.js';

const RUNS = 6;
const HOUR_S = 3_600;
/** So far back that usage has several days, weeks and months. */
const HOURS_MAX = 24 * 50;

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

interface Usage {
  readonly content: TestContent;
  readonly hoursAgo: number;
}

const usage: fc.Arbitrary<Usage> = fc.record({
  content: fc.record({
    customer: fc.constantFrom('a', 'b'),
    model: fc.constantFrom('x', 'y'),
    n: fc.nat(12),
  }),
  hoursAgo: fc.integer({ min: 1, max: HOURS_MAX }),
});

const rules = fc.record({
  price: anyPriceOfTotal,
  scope: anyScope,
  period: fc.constantFrom('hour', '7h', 'day', 'week', 'month', 'lifetime'),
  aggregate: fc.constantFrom(...COUNTER_AGGREGATES),
});
type Rules = typeof rules extends fc.Arbitrary<infer Value> ? Value : never;

function bodyOf({ price, scope, period, aggregate }: Rules) {
  const counting = { ...scope, period, aggregate, ...(aggregate === 'unique' ? { of: 'model' } : {}) };
  return countedRules({ total: price.expression, cumulative: counting });
}

/** A project that charges by these rules, in which the customer `a` has a route with this timezone. */
async function projectOf(asked: Rules, timezone: string): Promise<CorrectionsProject> {
  const project = await CorrectionsProject.create(fixture);
  const { id } = await project.must(201, 'POST', '/extractor-rule-sets', bodyOf(asked));
  await project.must(200, 'POST', `/extractor-rule-sets/${id}/publish`);
  project.ruleSetId = id;
  const { id: accountId } = await project.must(201, 'POST', '/accounts', { name: 'a', timezone });
  await project.must(201, 'POST', '/subject-routes', {
    ...{ subject_type: 'customer', subject_id: 'a', account_id: accountId, timezone },
  });
  return project;
}

async function backtest(project: CorrectionsProject, range: object, extra = {}): Promise<BacktestResult> {
  const asked = { extractor_rule_set_id: project.ruleSetId, time_range: range, ...extra };
  const { id } = await project.must(200, 'POST', '/rules/backtest', asked);
  return (await project.get(`/rules/backtests/${id}`)).result;
}

it('says what rating everything by the tested rules comes to, in whatever order usage has come', async () => {
  const zone = fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York');
  const usages = fc.array(usage, { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(rules, rules, zone, usages, async (charged, tested, timezone, all) => {
      const [project, anew] = [await projectOf(charged, timezone), await projectOf(tested, timezone)];
      const startS = fixture.nowS;
      for (const { content, hoursAgo } of all) {
        const agoS = fixture.nowS - startS + hoursAgo * HOUR_S;
        for (const each of [project, anew]) await each.send([content], agoS);
        await fixture.rate();
        fixture.clock.advanceMs(1_000);
      }
      await fixture.settle();
      const { effective_from: _from, ...extractor } = bodyOf(tested);
      for (const { hoursAgo } of all) {
        const range = { from: startS - hoursAgo * HOUR_S, to: startS };
        const found = await backtest(project, range, { extractor });
        const rated = await backtest(anew, range);
        expect(rated).toMatchObject({ changed_count: 0, newly_failed: [] });
        expect(found.event_count).toBe(rated.event_count);
        expect(found.newly_failed).toEqual([]);
        // A group that only the charged rules have comes to nothing.
        const after = found.totals.map((total) => total.after).filter(({ item_count: count }) => count > 0);
        expect(after).toEqual(rated.totals.map(({ before }) => before));
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});
