import {
  type BacktestResult,
  COUNTER_AGGREGATES,
  type Correction,
  type Cumulative,
} from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedRules } from './counted.testing.js';
import { anyScope } from './counted-model.testing.js';
import { STORED_COUNTERS } from './counted-rows.testing.js';
import { CorrectionsProject } from './project.testing.js';
import { anyPriceOfTotal, exact } from './total-prices.testing.js';

const RUNS = propertyRuns(4);
const HOUR_S = 3_600;

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

const content = fc.record({
  customer: fc.constantFrom('a', 'b'),
  model: fc.constantFrom('x', 'y'),
  n: fc.nat(9),
  calls: fc.nat(5),
});

/** Usage, which may be late, and corrections of earlier usage, which leave amounts. */
const anyAction = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('send' as const), content, hoursAgo: fc.nat(900) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('void' as const), of: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), of: fc.nat(20), content }) },
);
type Action = typeof anyAction extends fc.Arbitrary<infer Value> ? Value : never;

/** Rules under which two metrics share a counter. */
function rulesOf(total: string, cumulative: Partial<Cumulative>) {
  const { charge_item_extractors: items, ...rules } = countedRules({ total, cumulative });
  const calls = items.map((item) => ({ ...item, metric: 'llm.calls', path: 'calls' }));
  return { ...rules, charge_item_extractors: [...items, ...calls] };
}

/** A project that charges by these rules, in which the customer `a` has an account. */
async function projectOf(rules: object): Promise<CorrectionsProject> {
  const project = await CorrectionsProject.create(fixture);
  project.ruleSetId = (await project.must(201, 'POST', '/extractor-rule-sets', rules)).id;
  await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
  await project.route('a');
  return project;
}

async function act(
  project: CorrectionsProject,
  ids: string[],
  action: Action,
  startS: number,
): Promise<void> {
  if (action.kind === 'send') {
    const agoS = fixture.nowS - startS + (action.hoursAgo + 1) * HOUR_S;
    ids.push(...(await project.sendAndRate([action.content], agoS)));
  } else {
    const id = ids[action.of % Math.max(1, ids.length)];
    if (id === undefined) return;
    if (action.kind === 'void') await project.void(id);
    else await project.replace(id, action.content);
  }
  fixture.clock.advanceMs(1_000);
}

async function backtest(project: CorrectionsProject): Promise<{ id: string; result: BacktestResult }> {
  const asked = { extractor_rule_set_id: project.ruleSetId, time_range: project.everything };
  const { id } = await project.must(200, 'POST', '/rules/backtest', asked);
  return project.get(`/rules/backtests/${id}`);
}

interface Difference {
  readonly metric: string;
  readonly currency: string | null;
  readonly before: string;
  readonly after: string;
}

const backtested = ({ totals }: BacktestResult): Difference[] =>
  totals.map(({ before, after, ...names }) => ({ ...names, before: before.amount, after: after.amount }));
const planned = ({ totals }: Correction): Difference[] =>
  totals.map(({ amount, metric, currency }) => ({ metric, currency, ...amount }));

const byCurrency = ({ currency }: Difference) => currency ?? '';
const byMetric = ({ metric, currency }: Difference) => `${metric} ${currency}`;

/** Sums up by group how much amounts change; groups without a change are left out. */
function changes(differences: readonly Difference[], groupOf: (each: Difference) => string) {
  const sums: Record<string, bigint> = {};
  for (const each of differences) {
    const group = groupOf(each);
    sums[group] = (sums[group] ?? 0n) + exact(each.after) - exact(each.before);
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n));
}

/** The counters, and what each event is charged. */
async function chargedIn(project: CorrectionsProject, ids: readonly string[]) {
  const counters = await fixture.rows(
    `select key, period_start, quantity::text, amount::text, item_count from ${STORED_COUNTERS}
     where project_id = $1 and item_count > 0 order by key, period_start`,
    [project.projectId],
  );
  const items = await Promise.all(
    ids.map(async (id) => (await project.event(id)).charge_items.map(chargeOf).toSorted()),
  );
  return { counters, items };
}

const chargeOf = ({ metric, quantity, amount }: Record<string, string>) => `${metric} ${quantity} ${amount}`;

it('a backtest is applied as it is, whatever has come late or was corrected before', async () => {
  const counting = fc
    .record({
      scope: anyScope,
      period: fc.constantFrom('day', 'week', 'month', 'lifetime'),
      aggregate: fc.constantFrom('sum' as const, ...COUNTER_AGGREGATES),
    })
    .map(({ scope, ...all }) => ({
      ...scope,
      ...all,
      ...(all.aggregate === 'unique' ? { of: 'model' } : {}),
    }));
  const actions = fc.array(anyAction, { minLength: 3, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      anyPriceOfTotal,
      anyPriceOfTotal,
      counting,
      actions,
      async (old, fresh, counted, all) => {
        const project = await projectOf(rulesOf(old.expression, counted));
        const ids: string[] = [];
        const startS = fixture.nowS;
        for (const action of all) await act(project, ids, action, startS);
        const path = `/extractor-rule-sets/${project.ruleSetId}`;
        await project.must(200, 'PUT', path, rulesOf(fresh.expression, counted));
        await project.must(200, 'POST', `${path}/publish`);
        const before = await chargedIn(project, ids);
        const { id, result } = await backtest(project);
        const asked = { action: 'rerate', backtest_id: id, reason: 'test', dry_run: true };
        const plan = await project.ended((await project.must(202, 'POST', '/usage/corrections', asked)).id);
        expect(plan).toMatchObject({ status: 'planned', failure: null });
        // An amount that a correction has left of one metric can be taken back from another one in its counter.
        const isCorrected = all.some(({ kind }) => kind !== 'send');
        const groupOf = isCorrected ? byCurrency : byMetric;
        expect(changes(planned(plan), groupOf)).toEqual(changes(backtested(result), groupOf));
        if (!isCorrected) expect(plan.events_changed).toBe(result.changed_count);

        const applied = await project.change(plan.id, 'apply');
        expect(applied).toMatchObject({ status: 'applied', applied: { totals: plan.totals } });
        const again = await backtest(project);
        expect(changes(backtested(again.result), byCurrency)).toEqual({});
        expect(await project.change(plan.id, 'revert')).toMatchObject({ status: 'reverted' });
        expect(await chargedIn(project, ids)).toEqual(before);
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
});
