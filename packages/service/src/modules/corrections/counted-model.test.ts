import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { anyCounting, anyPrice, CountedModel } from './counted-model.testing.js';
import type { Death } from './death.testing.js';
import type { TestContent } from './project.testing.js';

const RUNS = Number(process.env.TOLLGATE_MODEL_RUNS ?? 6);
const SEED = Number(process.env.TOLLGATE_MODEL_SEED ?? 5);
const STEPS_MAX = 9;
const TIMEOUT_MS = 60_000 + RUNS * 60_000;

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

type Step = (model: CountedModel) => Promise<void>;

function stepOf(fields: unknown, run: Step): Step & fc.WithToStringMethod {
  return Object.assign((model: CountedModel) => run(model), {
    [fc.toStringMethod]: () => JSON.stringify(fields),
  });
}

const content: fc.Arbitrary<TestContent> = fc.record(
  {
    customer: fc.constantFrom('a', 'b'),
    n: fc.integer({ min: 0, max: 9 }),
    model: fc.constantFrom('x', 'y', 'z'),
  },
  { requiredKeys: ['customer', 'n'] },
);
const contents = fc.array(content, { minLength: 1, maxLength: 6 });
const death: fc.Arbitrary<Death | undefined> = fc.option(
  fc.record({ statement: fc.integer({ min: 1, max: 90 }), isExecuted: fc.boolean() }),
  { nil: undefined },
);
const meanwhile = fc.oneof(fc.constant([]), fc.array(content, { minLength: 1, maxLength: 2 }));

const send = fc
  .record({ contents, daysAgo: fc.constantFrom(0, 0, 0, 2) })
  .map((fields) => stepOf({ send: fields }, (model) => model.send(fields.contents, fields.daysAgo)));

const reprice = anyPrice.map((price) =>
  stepOf({ reprice: price.expression }, (model) => model.reprice(price)),
);

const one = fc
  .record({ at: fc.nat(40), replacement: fc.option(content, { nil: undefined }), dies: death, meanwhile })
  .map((fields) =>
    stepOf({ one: fields }, async (model) => {
      const { at, replacement, dies } = fields;
      const { project, ids } = model;
      const id = ids[at % Math.max(1, ids.length)];
      if (id === undefined) return;
      await fixture.project();
      const [verb, body] = replacement === undefined ? ['void', {}] : ['replace', { raw_json: replacement }];
      const path = `/usage/events/${id}/${verb}`;
      const { correction_id } = await project.must(202, 'POST', path, { ...body, reason: 'one' });
      await model.finish(dies, fields.meanwhile);
      expect(await project.correction(correction_id)).toMatchObject({ status: 'applied' });
      model.corrections.push(correction_id);
    }),
  );

const many = fc
  .record({
    action: fc.constantFrom('void', 'rerate', 'rerate'),
    subject: fc.constantFrom(undefined, undefined, 'a'),
    plan: fc.constantFrom(undefined, 'exact', 'current'),
    dies: death,
    meanwhile,
  })
  .map((fields) =>
    stepOf({ many: fields }, async (model) => {
      const { action, subject, plan, dies } = fields;
      const { project } = model;
      await fixture.project();
      const filter = { ...project.everything, ...(subject === undefined ? {} : { subject_id: subject }) };
      const id = await project.start({ action, filter, dry_run: plan !== undefined } as object);
      const sentBefore = model.ids.length;
      await model.finish(dies, fields.meanwhile);
      if (plan !== undefined) {
        await project.must(202, 'POST', `/usage/corrections/${id}/apply`, { counters: plan });
        await model.finish(dies, fields.meanwhile);
      }
      const { status, applied } = await project.correction(id);
      const isMoved = model.ids.length > sentBefore;
      expect(status).toBe(plan === 'exact' && isMoved && status === 'stale' ? 'stale' : 'applied');
      model.corrections.push(id);
      // Usage between the parts of a plan that was not completed has prices of totals in between.
      if (status === 'stale' && applied.events > 0) model.isMixed = true;
      if (status === 'applied' && action === 'rerate' && subject === undefined && !isMoved)
        model.isMixed = false;
      else if (action === 'rerate' && model.hasVersions) model.isMixed = true;
    }),
  );

const revert = fc.record({ at: fc.nat(20), dies: death, meanwhile }).map((fields) =>
  stepOf({ revert: fields }, async (model) => {
    const { project, corrections } = model;
    const id = corrections[fields.at % Math.max(1, corrections.length)];
    if (id === undefined) return;
    const { status } = await project.call('POST', `/usage/corrections/${id}/revert`);
    if (status !== 202) return;
    await model.finish(fields.dies, fields.meanwhile);
    expect(await project.correction(id)).toMatchObject({ status: 'reverted', applied: { events: 0 } });
    if (model.hasVersions) model.isMixed = true;
  }),
);

const step = fc.oneof(
  { weight: 5, arbitrary: send },
  { weight: 1, arbitrary: reprice },
  { weight: 3, arbitrary: one },
  { weight: 4, arbitrary: many },
  { weight: 3, arbitrary: revert },
);

it(
  'charges the price of each total, whatever is corrected and whoever dies',
  async () => {
    const steps = fc.array(step, { minLength: 5, maxLength: STEPS_MAX, size: 'max' });
    await fc.assert(
      fc.asyncProperty(anyCounting, anyPrice, contents, steps, async (counting, price, first, performed) => {
        const model = await CountedModel.create(fixture, counting, price);
        await model.send(first, 0);
        for (const each of performed) {
          await each(model);
          await fixture.settle();
          const { stored, charged, priced } = await model.compare();
          const notes = `${fixture.defects.map((error) => (error as Error).stack)} ${JSON.stringify(fixture.warnings)}`;
          expect(charged, notes).toEqual(stored);
          for (const text of stored.filter((found) => found.includes(', 0 items')))
            expect(text).toMatch(/: 0 for 0, 0 items, 0 values$/);
          if (model.isMixed) continue;
          const amounts = stored.filter((found) => !found.includes(', 0 items'));
          expect(amounts.map((found) => found.replace(/: .* for ([^,]*),.*/, ' $1'))).toEqual(priced);
        }
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    );
    const nothing = { difference_count: 0 };
    expect(await fixture.verify()).toMatchObject({
      ...{ status: 'equal', differences: [], ledger: nothing, postings: nothing },
    });
    expect(fixture.defects).toEqual([]);
  },
  TIMEOUT_MS,
);
