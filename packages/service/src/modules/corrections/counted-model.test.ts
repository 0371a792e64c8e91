import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { CorrectionsFixture } from './corrections.testing.js';
import {
  type Arrival,
  anyCounting,
  type Clocks,
  CountedModel,
  type SentEvent,
} from './counted-model.testing.js';
import type { CountedContent, Counting } from './counted-oracle.testing.js';
import type { Death } from './death.testing.js';
import { anySettings, instantsAround, instantsNear } from './local-periods.testing.js';
import { RatingWorkers } from './rating-workers.testing.js';
import { anyDecimal, anyPriceOfTotal, type ExactPrice, PRICES_OF_TOTALS } from './total-prices.testing.js';

const STEPS_MAX = 6;
/** Each is a segment of the queue, so that all workers have some at the same time. */
const FEW_REQUESTS = 3;
const MANY_REQUESTS = 6;
const TIMEOUT_MS = propertyRuns(900_000);
const NOTHING: Arrival = { requests: [], cut: undefined };

let fixture: CorrectionsFixture;
let workers: RatingWorkers;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
  workers = new RatingWorkers(fixture);
});
afterAll(async () => {
  await workers.close();
  await fixture.close();
});

type Step = (model: CountedModel) => Promise<void>;

function stepOf(fields: unknown, run: Step): Step & fc.WithToStringMethod {
  return Object.assign((model: CountedModel) => run(model), {
    [fc.toStringMethod]: () => JSON.stringify(fields),
  });
}

const content: fc.Arbitrary<CountedContent> = fc.record(
  {
    customer: fc.constantFrom('a', 'b', 'a', 'b', 'c'),
    n: fc.oneof(anyDecimal, fc.constantFrom('0', '2', '2.5', '0.000000000000000001')),
    model: fc.constantFrom('x', 'y', 'z'),
  },
  { requiredKeys: ['customer', 'n'] },
);
const cut = fc.record({
  worker: fc.nat(RatingWorkers.count - 1),
  statement: fc.integer({ min: 1, max: 30 }),
});
const death: fc.Arbitrary<Death | undefined> = fc.option(
  fc.record({ statement: fc.integer({ min: 1, max: 90 }), isExecuted: fc.boolean() }),
  { nil: undefined },
);

const clocks: fc.Arbitrary<Clocks> = fc.record({ a: anySettings, b: anySettings, account: anySettings });

/** Steps whose events occur at these instants. */
function anyStep(instants: readonly number[], prices: fc.Arbitrary<ExactPrice>, clocksChange: boolean) {
  const event: fc.Arbitrary<SentEvent> = fc.record({ content, atS: fc.constantFrom(...instants) });
  const request = fc.array(event, { minLength: 1, maxLength: 3 });
  const arrivalOf = (requestsMin: number): fc.Arbitrary<Arrival> =>
    fc.record({
      requests: fc.array(request, { minLength: requestsMin, maxLength: requestsMin + 3 }),
      cut: fc.option(cut, { nil: undefined }),
    });
  const arrival = arrivalOf(FEW_REQUESTS);
  const meanwhile = fc.oneof(fc.constant(NOTHING), arrival);

  const send = arrival.map((fields) => stepOf({ send: fields }, (model) => model.send(fields)));
  const reprice = prices.map((price) =>
    stepOf({ reprice: price.expression }, (model) => model.reprice(price)),
  );
  const one = fc
    .record({ at: fc.nat(40), replacement: fc.option(content, { nil: undefined }), dies: death, meanwhile })
    .map((fields) => stepOf({ one: fields }, (model) => correctOne(model, fields)));
  const many = fc
    .record({
      action: fc.constantFrom('void', 'rerate', 'rerate'),
      subject: fc.constantFrom(undefined, undefined, 'a'),
      plan: fc.constantFrom(undefined, 'exact', 'current'),
      dies: death,
      meanwhile,
    })
    .map((fields) => stepOf({ many: fields }, (model) => correctMany(model, fields)));
  const revert = fc
    .record({ at: fc.nat(20), dies: death, meanwhile })
    .map((fields) => stepOf({ revert: fields }, (model) => revertOne(model, fields)));
  const change = fc.record({ changed: clocks, arrival: arrivalOf(MANY_REQUESTS) }).map((fields) =>
    stepOf({ change: fields }, async (model) => {
      await model.changeClocks(fields.changed);
      await model.send(fields.arrival);
    }),
  );
  return {
    // Where clocks change, most periods begin later.
    first: arrivalOf(clocksChange ? 1 : MANY_REQUESTS),
    steps: fc.array(
      fc.oneof(
        { weight: 5, arbitrary: send },
        { weight: clocksChange ? 10 : 0, arbitrary: change },
        { weight: 1, arbitrary: reprice },
        { weight: 3, arbitrary: one },
        { weight: 4, arbitrary: many },
        { weight: 3, arbitrary: revert },
      ),
      { minLength: 4, maxLength: STEPS_MAX, size: 'max' },
    ),
  };
}

interface Interruption {
  readonly dies: Death | undefined;
  readonly meanwhile: Arrival;
}

async function correctOne(
  model: CountedModel,
  {
    at,
    replacement,
    dies,
    meanwhile,
  }: Interruption & { readonly at: number; readonly replacement: CountedContent | undefined },
): Promise<void> {
  const { project } = model;
  const { ids } = model.oracle;
  const id = ids[at % ids.length];
  await fixture.project();
  const [verb, body] = replacement === undefined ? ['void', {}] : ['replace', { raw_json: replacement }];
  const path = `/usage/events/${id}/${verb}`;
  const { correction_id } = await project.must(202, 'POST', path, { ...body, reason: 'one' });
  await model.finish(dies, meanwhile);
  expect(await project.correction(correction_id)).toMatchObject({ status: 'applied' });
  await model.corrected(correction_id, () => replacement);
}

async function correctMany(
  model: CountedModel,
  {
    action,
    subject,
    plan,
    dies,
    meanwhile,
  }: Interruption & {
    readonly action: 'void' | 'rerate';
    readonly subject: string | undefined;
    readonly plan: 'exact' | 'current' | undefined;
  },
): Promise<void> {
  const { project } = model;
  await fixture.project();
  const filter = { ...model.everything, ...(subject === undefined ? {} : { subject_id: subject }) };
  const id = await project.start({ action, filter, ...(plan === undefined ? {} : { dry_run: true }) });
  await model.finish(dies, plan === undefined ? meanwhile : NOTHING);
  if (plan !== undefined) {
    await project.must(202, 'POST', `/usage/corrections/${id}/apply`, { counters: plan });
    await model.finish(dies, meanwhile);
  }
  const { status, applied } = await project.correction(id);
  const isMoved = meanwhile.requests.length > 0;
  expect(status).toBe(plan === 'exact' && isMoved && status === 'stale' ? 'stale' : 'applied');
  await model.corrected(id, (former) => (action === 'void' ? undefined : former));
  // Usage between the parts of a plan that was not completed has prices of totals in between.
  if (status === 'stale' && applied.events > 0) model.isMixed = true;
  const isWhole = status === 'applied' && action === 'rerate' && subject === undefined && !isMoved;
  if (isWhole) model.isMixed = false;
  else if (action === 'rerate' && model.hasVersions) model.isMixed = true;
}

async function revertOne(
  model: CountedModel,
  { at, dies, meanwhile }: Interruption & { readonly at: number },
): Promise<void> {
  const { project, corrections } = model;
  const id = corrections[at % Math.max(1, corrections.length)];
  if (id === undefined) return;
  const { status } = await project.call('POST', `/usage/corrections/${id}/revert`);
  if (status !== 202) return;
  await model.finish(dies, meanwhile);
  expect(await project.correction(id)).toMatchObject({ status: 'reverted', applied: { events: 0 } });
  model.oracle.revert(id);
  if (model.hasVersions) model.isMixed = true;
}

/** Expects that everything follows from the contents of events, and amounts from totals. */
async function expectAsCounted(model: CountedModel): Promise<void> {
  await fixture.settle();
  const { stored, expected, overlapping, balance, debited } = await model.compare();
  const notes = `${fixture.defects.map((error) => (error as Error).stack)} ${JSON.stringify(fixture.warnings)}`;
  expect(overlapping).toEqual([]);
  const counting = stored.filter(({ isEmpty }) => !isEmpty);
  const contents = counting.map(({ name, content: found }) => ({ name, content: found }));
  expect(contents, notes).toEqual(expected.map(({ price: _, ...period }) => period));
  const amounts = stored.map(({ name, amount, isEmpty }) => [name, isEmpty ? '0' : amount]);
  expect(stored.map(({ name, charged }) => [name, charged])).toEqual(amounts);
  expect(balance).toBe(debited);
  if (model.isMixed) return;
  expect(counting.map(({ name, amount }) => [name, amount])).toEqual(
    expected.map(({ name, price }) => [name, price]),
  );
}

/** Whether counters have few owners, and periods that begin days earlier or later by other clocks. */
function isMovedByClocks({ per, by, period }: Counting): boolean {
  return per !== 'project' && by.length === 0 && ['week', '7d', '1 month'].includes(period);
}

/** Runs steps with prices of one kind, and expects after each what the oracle says. */
async function expectRuns(
  prices: fc.Arbitrary<ExactPrice>,
  numRuns: number,
  clocksChange = false,
): Promise<void> {
  const counting = clocksChange ? anyCounting.filter(isMovedByClocks) : anyCounting;
  const run = fc.record({ counting, price: prices, clocks }).chain((known) =>
    (clocksChange ? instantsAround : instantsNear)(Object.values(known.clocks)).chain((instants) =>
      fc.record({
        known: fc.constant(known),
        ...anyStep(instants, prices, clocksChange),
        partEvents: fc.integer({ min: 1, max: 4 }),
      }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(run, async ({ known, first, steps, partEvents }) => {
      fixture.partEvents = partEvents;
      const model = await CountedModel.create(workers, fixture, known.counting, known.price, known.clocks);
      await model.send(first);
      await expectAsCounted(model);
      for (const each of steps) {
        await each(model);
        await expectAsCounted(model);
      }
    }),
    { numRuns, endOnFailure: true },
  );
  const nothing = { difference_count: 0 };
  expect(await fixture.verify()).toMatchObject({
    ...{ status: 'equal', differences: [], ledger: nothing, postings: nothing },
  });
  expect(fixture.defects).toEqual([]);
}

it.each(Object.entries(PRICES_OF_TOTALS))(
  'charges the price of each total, whatever is corrected and whoever dies: %s',
  (kind, prices) => expectRuns(prices, propertyRuns(kind === 'monotone' ? 3 : 1)),
  TIMEOUT_MS,
);

it(
  'counts each event in the one period that contains it, whatever timezones and anchors are changed',
  () => expectRuns(anyPriceOfTotal, propertyRuns(2), true),
  TIMEOUT_MS,
);
