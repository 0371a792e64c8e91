import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { propertyRuns } from '../../../testing/property-runs.js';
import type { PastUsage } from '../../usage/index.js';
import { PostingFixture } from '../posting/posting.testing.js';
import type { TestRule } from '../posting/rule-values.testing.js';
import { ratedUsage, type TestUsage } from '../posting/usage.testing.js';
import { countedFrom, LimitReplay } from './limit-replay.js';
import { readTestedPlan, testedRules } from './tested-plan.js';
import { TestedSubjects } from './tested-subjects.js';

const RUNS = propertyRuns(15);
const TIMEOUT_MS = 60_000 + RUNS * 4_000;
const PLAN_ID = 'ulp_1';
const MINUTE_S = 60;

let fixture: PostingFixture;
beforeAll(async () => {
  fixture = await PostingFixture.create();
});
afterAll(() => fixture.drop());

const rule = fc
  .record({
    measure: fc.constantFrom('amount', 'quantity', 'count', 'unique', 'max'),
    period: fc.constantFrom(
      'minute',
      'hour',
      'day',
      'lifetime',
      '90m',
      '2d',
      'first_use:5h',
      'sliding:60m',
      'sliding:1d',
    ),
    limit: fc.integer({ min: 0, max: 6 }).map(String),
    notifyAt: fc.constantFrom([], [50], [10, 80]),
  })
  // A sliding limit of 0 is reached by usage of long ago, which a backtest does not read.
  .filter(
    ({ measure, period, limit }) =>
      !period.startsWith('sliding') || (limit !== '0' && !['unique', 'max'].includes(measure)),
  )
  .map((fields) => ({ ...fields, ...(fields.measure === 'unique' ? { of: 'model' } : {}) }));

/** Usage some minutes after the one before. */
const usage = fc.record({
  minutes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 60, max: 900 })),
  subject: fc.constantFrom('u1', 'u2', 'm1'),
  quantity: fc.constantFrom('0', '1', '2.5'),
  amount: fc.constantFrom('0', '0.5', '1.75'),
  model: fc.constantFrom('a', 'b', 'c'),
});

/** Counts usage as it happens; returns it as the history has it, and the alerts that each event sent. */
async function postAll(all: readonly (TestUsage & { readonly atS: number })[]) {
  const past: PastUsage[] = [];
  const sent: { readonly atS: number; readonly alert: string }[] = [];
  let known: string[] = [];
  for (const one of all) {
    fixture.clock.advanceMs(one.atS * 1_000 - fixture.clock.nowMs());
    const [posted] = await fixture.post([one]);
    const { items, dimensions, occurredAt } = ratedUsage(one);
    const subject = { type: 'user', id: one.subject ?? '' };
    past.push({ id: '', occurredAt, subject, parents: posted?.parents ?? [], dimensions, items });
    const now = await fixture.crossings();
    const before = known;
    for (const key of now.filter((each) => !before.includes(each))) {
      sent.push({ atS: one.atS, alert: key.replace(/#\d+/, '') });
    }
    known = now;
  }
  return { past, sent };
}

/** Returns what a backtest of the plan finds, as `postAll` returns alerts. */
async function replayFrom(from: number, past: readonly PastUsage[], ruleNos: ReadonlyMap<string, number>) {
  const { postgres, project } = fixture;
  const rules = testedRules(await readTestedPlan(postgres, project, PLAN_ID));
  const parts = { postgres, scope: project, planId: PLAN_ID, rules, from };
  const candidates = { types: ['user'], subjects: undefined };
  const subjects = new TestedSubjects({ ...parts, candidates, countsAnyPlan: false });
  await subjects.meet(past.flatMap(({ subject, parents }) => [subject, ...parents]));
  const replay = new LimitReplay(from);
  for (const event of past.filter(({ occurredAt }) => occurredAt >= countedFrom(rules, from))) {
    for (const subject of [event.subject, ...event.parents]) {
      const tested = subjects.of(subject);
      if (tested !== undefined) replay.count(tested, event);
    }
  }
  return replay.results.map(({ at, limit_key, window_id, threshold_percent, subject_type, subject_id }) => {
    const startS = /^(sliding:.*|lifetime:0)$/.test(window_id) ? 0 : window_id.split(':').at(-1);
    const alert = `limit ${ruleNos.get(limit_key)} ${startS} ${threshold_percent} ${subject_type} ${subject_id}`;
    return { atS: at, alert };
  });
}

it(
  'a backtest finds the alerts that the same plan has sent',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rule, { minLength: 1, maxLength: 4 }),
        fc.array(usage, { minLength: 4, maxLength: 14 }),
        fc.nat(),
        async (rules, steps, startAt) => {
          await fixture.reset();
          const named: TestRule[] = rules.map((one, index) => ({ key: `limit-${index}`, ...one }));
          const numbers = await fixture.publish(PLAN_ID, named);
          const ruleNos = new Map(named.map(({ key }, index) => [key, numbers[index] ?? 0]));
          const route = { planId: PLAN_ID, timezone: 'Europe/Berlin', anchorS: 1_000 };
          for (const subjectId of ['u1', 'u2']) await fixture.route({ ...route, subjectId });
          await fixture.route({ ...route, subjectId: 'm1', parentId: 'u1', accountId: null });
          let atS = fixture.clock.nowMs() / 1_000;
          const all = steps.map(({ minutes, subject, quantity, amount, model }) => {
            atS += minutes * MINUTE_S;
            return { atS, subject, items: [{ quantity, amount }], dimensions: { model } };
          });
          const { past, sent } = await postAll(all);
          const from = all[startAt % all.length]?.atS ?? 0;
          const expected = sent.filter((one) => one.atS >= from);
          const found = await replayFrom(from, past, ruleNos);
          const inOrder = (list: typeof found) => list.map(({ atS: at, alert }) => `${at} ${alert}`).sort();
          expect(inOrder(found)).toEqual(inOrder(expected));
        },
      ),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);
