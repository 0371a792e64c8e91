import fc from 'fast-check';
import { expect } from 'vitest';
import type { PostingFixture } from './posting.testing.js';
import type { PostingOracle } from './posting-oracle.testing.js';
import type { TestRule } from './rule-values.testing.js';
import { takeBack } from './take-back.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

const DAY_S = 86_400;
const PLANS: Readonly<Record<string, readonly Omit<TestRule, 'limit'>[]>> = {
  ulp_1: [
    { key: 'day', period: 'day', notifyAt: [50, 80] },
    { key: 'eur', currency: 'EUR', period: 'week', notifyAt: [33] },
    { key: 'tokens', measure: 'quantity', currency: '', selector: ['metric_prefix', 'llm.'], period: '5h' },
    {
      key: 'model',
      measure: 'quantity',
      currency: '',
      dimension: ['model', 'large'],
      period: 'lifetime',
      notifyAt: [1],
    },
    { key: 'first', period: 'first_use:5h', notifyAt: [50] },
  ],
  ulp_2: [
    { key: 'month', period: 'month', selector: ['metric', 'llm.calls'], notifyAt: [10, 90] },
    { key: 'hour', period: 'hour' },
    { key: 'count', measure: 'count', currency: '', period: 'day', notifyAt: [40] },
    {
      key: 'family',
      metrics: ['llm.tokens', 'storage'],
      dimensionValues: ['model', ['la*', 'large', 'none']],
      period: 'day',
    },
    { key: 'unique', measure: 'unique', of: 'model', currency: '', period: 'day', notifyAt: [50] },
    {
      key: 'max',
      measure: 'max',
      currency: '',
      selector: ['metric_prefix', 'llm.'],
      period: 'day',
      notifyAt: [40],
    },
  ],
};

const DIRECT_NOTIFY_AT = [50, 80];

/** Something that happens to the project, in the database and in the oracle. */
export interface Step {
  run(fixture: PostingFixture, oracle: PostingOracle): Promise<void>;
}

/** Creates a step that a counterexample shows with its fields. */
function stepOf(fields: unknown, run: Step['run']): Step & fc.WithToStringMethod {
  return { run, [fc.toStringMethod]: () => JSON.stringify(fields) };
}

const subjectId = fc.constantFrom('u1', 'u2', 'u"3\\');
const limit = fc.constantFrom('0', '1', '2.5', '10', '0.000000000000000001');
const amount = fc.constantFrom(
  ...['0', '0.5', '1', '3.333333333333333333', '0.000000000000000001'],
  ...['-1', '-2.5', '-10', '-0.000000000000000001'],
);

const publish = fc
  .record({
    planId: fc.constantFrom('ulp_1', 'ulp_2'),
    limits: fc.array(limit, { minLength: 6, maxLength: 6 }),
  })
  .map(({ planId, limits }) =>
    stepOf({ planId, limits }, async (fixture, oracle) => {
      const rules = (PLANS[planId] ?? []).map((rule, index) => ({ ...rule, limit: limits[index] ?? '1' }));
      oracle.publish(planId, rules, await fixture.publish(planId, rules));
    }),
  );

const route = fc
  .record({
    subjectId: fc.oneof(fc.constant('*'), subjectId),
    accountId: fc.constantFrom('acct_a', 'acct_b', null),
    parentId: fc.option(subjectId),
    planId: fc.constantFrom('ulp_1', 'ulp_2', undefined),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
    anchorS: fc.constantFrom(0, NOW_S - 1, NOW_S - 7 * DAY_S + 5),
  })
  .map(({ planId, accountId, ...fields }) =>
    stepOf({ planId, accountId, ...fields }, async (fixture, oracle) => {
      const isKnown = planId !== undefined && oracle.plans.includes(planId);
      const isBelow = fields.parentId !== null && oracle.acceptsParent(fields.subjectId, fields.parentId);
      const placed = isBelow
        ? { ...fields, accountId }
        : { ...fields, accountId: accountId ?? 'acct_a', parentId: null };
      const bound = isKnown ? { ...placed, planId } : placed;
      await fixture.route(bound);
      oracle.route(bound);
    }),
  );

const directLimit = fc
  .record({ subjectId: fc.oneof(fc.constant('*'), subjectId), limit, key: fc.uuid() })
  .map(({ subjectId: routed, limit: most, key }) =>
    stepOf({ routed, most, key }, async (fixture, oracle) => {
      if (!oracle.hasRoute(routed)) return;
      const rule: TestRule = { key, limit: most, period: '2 day', notifyAt: DIRECT_NOTIFY_AT };
      oracle.limit(routed, rule, await fixture.limit(`ra_${routed}`, rule));
    }),
  );

/** A limit of 0 is left out: its percentages are one amount, so a window does not know which of them were reached. */
const changedLimit = fc
  .record({ at: fc.nat(9), amount: fc.constantFrom('1', '2.5', '4', '10') })
  .map(({ at, amount: most }) =>
    stepOf({ at, most }, async (fixture, oracle) => {
      const known = oracle.directLimits();
      const changed = known[at % known.length];
      if (changed === undefined) return;
      fixture.clock.advanceMs(1);
      await fixture.changeLimit(changed.subjectId, changed.key, changed.ruleNo, most, DIRECT_NOTIFY_AT);
      oracle.changeLimit(changed.subjectId, changed.key, most);
    }),
  );

const usage: fc.Arbitrary<TestUsage> = fc.record({
  subject: fc.oneof({ weight: 9, arbitrary: subjectId }, { weight: 1, arbitrary: fc.constant(null) }),
  atS: fc
    .oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: -40 * DAY_S, max: DAY_S }) },
      { weight: 2, arbitrary: fc.constantFrom(-7, -6, -5, -1, 4, 5, 9, 10).map((hours) => hours * 3_600) },
    )
    .map((awayS) => NOW_S + awayS),
  dimensions: fc.constantFrom({ model: 'large' }, { model: 'small' }, { model: '' }, {}),
  isReversal: fc.boolean(),
  items: fc.array(
    fc
      .record({
        metric: fc.constantFrom('llm.tokens', 'llm.calls', 'storage'),
        quantity: fc.constantFrom('0', '1', '2', '3.5', '0.000000000000000001', '-1', '-2'),
        price: fc.option(fc.record({ amount, currency: fc.constantFrom('USD', 'EUR') })),
      })
      .map(({ price, ...item }) => ({ ...item, ...price })),
    { maxLength: 3 },
  ),
});

const batch = fc
  .record({ events: fc.array(usage, { maxLength: 12 }), dies: fc.boolean() })
  .map(({ events, dies }) =>
    stepOf({ events, dies }, async (fixture, oracle) => {
      // A batch that dies leaves nothing behind, and is posted again.
      const die = () => Promise.reject(new Error('killed'));
      if (dies) await fixture.post(events, die).catch(expectKilled);
      const posted = await fixture.post(events);
      const above = oracle.post(events).map(({ levels }) => levels.slice(1));
      expect(posted.map(({ parents }) => parents.map(({ id }) => id))).toEqual(above);
    }),
  );

/** Takes back an event, whatever is above its subject now. */
const correction = fc.nat(30).map((at) =>
  stepOf({ at }, async (fixture, oracle) => {
    const taken = oracle.takeBack(at);
    if (taken !== undefined) await takeBack(fixture, taken);
  }),
);

function expectKilled(error: unknown): void {
  if (!(error instanceof Error) || error.message !== 'killed') throw error;
}

const wait = fc.constantFrom(60, DAY_S / 2, DAY_S).map((seconds) =>
  stepOf({ seconds }, async (fixture) => {
    fixture.clock.advanceMs(seconds * 1_000);
  }),
);

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: publish },
  { weight: 3, arbitrary: route },
  { weight: 2, arbitrary: directLimit },
  { weight: 2, arbitrary: changedLimit },
  { weight: 6, arbitrary: batch },
  { weight: 2, arbitrary: correction },
  { weight: 1, arbitrary: wait },
);
