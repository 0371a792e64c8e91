import type { Correction, CorrectionRequest } from '@tollgate/contract';
import fc from 'fast-check';
import { expect } from 'vitest';
import { present } from '../../kernel/present.js';
import type { CorrectionsOracle, OracleEvent } from './corrections-oracle.testing.js';
import type { Death } from './death.testing.js';
import type { CorrectionsProject, TestContent } from './project.testing.js';
import { differs, ratedAgain, type Truth, voidedTruth } from './truth.testing.js';

/** Something that happens to the project, in the service and in the oracle. */
export interface Step {
  run(project: CorrectionsProject, oracle: CorrectionsOracle): Promise<void>;
}

/** Creates a step that a counterexample shows with its fields. */
function stepOf(fields: unknown, run: Step['run']): Step & fc.WithToStringMethod {
  return { run, [fc.toStringMethod]: () => JSON.stringify(fields) };
}

const DAY_S = 86_400;
const customer = fc.constantFrom('c1', 'c2', 'c3');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

export const content: fc.Arbitrary<TestContent> = fc
  .record({
    customer: optional(customer),
    model: optional(fc.constantFrom('small', 'large')),
    n: fc.oneof(
      { weight: 6, arbitrary: optional(fc.integer({ min: 1, max: 6 })) },
      { weight: 1, arbitrary: fc.constant('many') },
    ),
    calls: optional(fc.integer({ min: 1, max: 3 })),
    bytes: optional(fc.integer({ min: 1, max: 9 })),
  })
  .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));

const death: fc.Arbitrary<Death | undefined> = optional(
  fc.record({ statement: fc.integer({ min: 1, max: 45 }), isExecuted: fc.boolean() }),
);

/** Does the steps of corrections, by two processes of which one may die before. */
async function finish({ fixture }: CorrectionsProject, dies: Death | undefined): Promise<void> {
  if (dies !== undefined) await fixture.advanceUntil(dies);
  await fixture.finish(2);
}

/** Returns the events of each part of a correction. */
async function partsOf({ fixture }: CorrectionsProject, oracle: CorrectionsOracle, id: string) {
  const rows = await fixture.rows<{ ids: string[] }>(
    `select array(select 'evt_' || replace(id::text, '-', '') from unnest(raw_event_ids) as id) as ids
    from usage_correction_parts where correction_id = $1 order by no`,
    [id],
  );
  return rows.map(({ ids }) =>
    ids.map((one) =>
      present(
        oracle.events.find((event) => event.id === one),
        one,
      ),
    ),
  );
}

/** Applies a correction to the oracle, and expects that the service has changed the same events. */
async function applied(
  project: CorrectionsProject,
  oracle: CorrectionsOracle,
  correction: Correction,
  changes: ReadonlyMap<OracleEvent, Truth>,
): Promise<void> {
  expect(
    correction,
    String([
      JSON.stringify(correction.failure),
      ...project.fixture.defects.map((e) => (e as Error).stack),
      ...project.fixture.warnings,
    ]),
  ).toMatchObject({
    ...{ status: 'applied', events_changed: changes.size, applied: { events: changes.size } },
  });
  expect(correction.applied.totals).toEqual(correction.totals);
  const parts = await partsOf(project, oracle, correction.id);
  expect(parts.flat().map(({ id }) => id)).toEqual([...changes.keys()].map(({ id }) => id));
  oracle.corrections.set(correction.id, new Map());
  for (const part of parts) {
    const some = new Map(part.map((event) => [event, present(changes.get(event), event.id)]));
    oracle.correct(correction.id, some, project.fixture.nowS);
  }
}

const send = fc
  .record({
    contents: fc.array(content, { minLength: 1, maxLength: 7 }),
    daysAgo: fc.constantFrom(0, 0, 1, 3, 30),
    isTwice: fc.boolean(),
    isRated: fc.boolean(),
  })
  .map((fields) =>
    stepOf({ send: fields }, async (project, oracle) => {
      const { contents, daysAgo, isTwice, isRated } = fields;
      const atS = project.fixture.nowS - daysAgo * DAY_S;
      const keys = contents.map((_, index) => `k-${oracle.events.length + index}`);
      for (let time = 0; time < (isTwice ? 2 : 1); time++) {
        oracle.send(await project.send(contents, daysAgo * DAY_S, keys), contents, atS);
      }
      if (!isRated) return;
      await project.fixture.rate();
      oracle.rate(project.fixture.nowS);
    }),
  );

const reprocess = fc.constant(
  stepOf('reprocess', async (project, oracle) => {
    await project.must(202, 'POST', '/usage/events/reprocess', project.everything);
    for (const event of oracle.events)
      if (event.revisions.at(-1)?.status === 'failed') oracle.reprocess.add(event);
  }),
);

const reprice = fc
  .record({ token: fc.constantFrom('0.25', '0.5', '1', '0.333333333333333333'), isStrict: fc.boolean() })
  .map((prices) =>
    stepOf({ prices }, async (project, oracle) => {
      await project.reprice(prices);
      oracle.prices = prices;
    }),
  );

const filter = fc.record({
  status: optional(fc.constantFrom('processed', 'failed', 'voided')),
  metric: optional(fc.constantFrom('llm.tokens', 'llm.calls', 'net.bytes')),
  subject_id: optional(customer),
  pricing_source: optional(fc.constantFrom('extractor', 'unpriced')),
});
type Filter = typeof filter extends fc.Arbitrary<infer F> ? F : never;

const correct = fc
  .record({
    action: fc.constantFrom('rerate', 'rerate', 'void'),
    filter,
    isDryRun: fc.boolean(),
    dies: death,
  })
  .map((fields) =>
    stepOf({ correct: fields }, async (project, oracle) => {
      const { action, isDryRun, dies } = fields;
      await project.fixture.project();
      const given = Object.fromEntries(
        Object.entries(fields.filter).filter(([, value]) => value !== undefined),
      );
      const request = { action, filter: { ...project.everything, ...given }, dry_run: isDryRun };
      const id = await project.start(request as Partial<CorrectionRequest>);
      await finish(project, dies);
      if (isDryRun) {
        await project.must(202, 'POST', `/usage/corrections/${id}/apply`);
        await finish(project, dies);
      }
      const matching = oracle.ratedEvents.filter(({ revisions }) =>
        matches(present(revisions.at(-1), id), fields.filter),
      );
      const correction = await project.correction(id);
      expect(correction.events_matched).toBe(matching.length);
      await applied(project, oracle, correction, changesOf(action, matching, oracle));
    }),
  );

function matches({ status, subject, items }: Truth, asked: Filter): boolean {
  const { metric, pricing_source: source } = asked;
  const fits = items.some(
    (item) =>
      (metric === undefined || item.metric === metric) &&
      (source === undefined || (item.currency === '') === (source === 'unpriced')),
  );
  return (
    status === (asked.status ?? 'processed') &&
    (asked.subject_id === undefined || asked.subject_id === subject) &&
    (fits || (metric === undefined && source === undefined))
  );
}

function changesOf(action: string, events: readonly OracleEvent[], oracle: CorrectionsOracle) {
  const changes = new Map<OracleEvent, Truth>();
  for (const event of events) {
    const former = present(event.revisions.at(-1), event.id);
    const next =
      action === 'void'
        ? voidedTruth(former)
        : ratedAgain(former, former.content, oracle.prices, oracle.accountOf);
    if (next !== undefined && (action === 'void' ? former.status !== 'voided' : differs(former, next))) {
      changes.set(event, next);
    }
  }
  return changes;
}

const correctOne = fc.record({ at: fc.nat(30), replacement: optional(content), dies: death }).map((fields) =>
  stepOf({ one: fields }, async (project, oracle) => {
    const { at, replacement, dies } = fields;
    const event = oracle.ratedEvents[at % Math.max(1, oracle.ratedEvents.length)];
    if (event === undefined) return;
    const verb = replacement === undefined ? 'void' : 'replace';
    const body = replacement === undefined ? {} : { raw_json: replacement };
    const path = `/usage/events/${event.id}/${verb}`;
    const { correction_id } = await project.must(202, 'POST', path, { ...body, reason: 'one' });
    await finish(project, dies);
    if (oracle.corrections.has(correction_id)) {
      expect(event.madeBy).toBe(correction_id);
      return;
    }
    const former = present(event.revisions.at(-1), event.id);
    const next =
      replacement === undefined
        ? voidedTruth(former)
        : ratedAgain(former, replacement, oracle.prices, oracle.accountOf);
    const correction = await project.correction(correction_id);
    if (next === undefined) expect(correction).toMatchObject({ status: 'failed', events_changed: 0 });
    else await applied(project, oracle, correction, new Map(differs(former, next) ? [[event, next]] : []));
  }),
);

const revert = fc.record({ at: fc.nat(20), dies: death }).map(({ at, dies }) =>
  stepOf({ revert: { at, dies } }, async (project, oracle) => {
    const ids = [...oracle.corrections.keys()];
    const id = ids[at % Math.max(1, ids.length)];
    if (id === undefined) return;
    const { status, text } = await project.call('POST', `/usage/corrections/${id}/revert`);
    expect(status, text).toBe(oracle.isSuperseded(id) ? 409 : 202);
    if (status !== 202) return;
    await finish(project, dies);
    expect(await project.correction(id)).toMatchObject({
      status: 'reverted',
      applied: { events: 0, totals: [] },
    });
    for (const part of await partsOf(project, oracle, id)) oracle.revert(id, part, project.fixture.nowS);
    oracle.corrections.delete(id);
  }),
);

const reroute = customer.map((subject) =>
  stepOf({ reroute: subject }, async (project, oracle) => {
    const { id } = await project.must(201, 'POST', '/accounts', { name: subject });
    const { subject_routes } = await project.get(`/subject-routes?subject_id=${subject}`);
    const fields = { subject_type: 'customer', subject_id: subject, account_id: id };
    const [route] = subject_routes;
    if (route === undefined) {
      // Its windows did not count what was rated before, and corrections change them by differences alone.
      const [plan] = (await project.get('/usage-limit-plans')).usage_limit_plans;
      const usage_limit_plan_id = plan.id;
      await project.must(201, 'POST', '/subject-routes', { ...fields, usage_limit_plan_id });
      oracle.windows.subjects.add(subject);
    } else await project.must(200, 'PUT', `/subject-routes/${route.id}`, fields);
    oracle.accounts.set(subject, id);
  }),
);

const credit = fc
  .record({
    customer,
    amount: fc.constantFrom(1, 3, 8),
    days: optional(fc.integer({ min: 0, max: 2 })),
    mode: fc.boolean(),
  })
  .map((fields) =>
    stepOf({ credit: fields }, async (project, oracle) => {
      const account = oracle.accountOf(fields.customer);
      if (account === '') return;
      const { nowS } = project.fixture;
      // Corrections take minutes of the clock, and steps that wait take whole days: credits expire between them.
      const expiresAt = fields.days === undefined ? undefined : nowS + fields.days * DAY_S + DAY_S / 2;
      const path = `/accounts/${account}/wallets/USD`;
      const wallet = oracle.wallet(account, 'USD');
      wallet.expire(nowS);
      wallet.credit(BigInt(fields.amount) * 10n ** 18n, 0, expiresAt ?? null);
      const body = { amount: String(fields.amount), expires_at: expiresAt };
      const key = { 'idempotency-key': `credit-${oracle.wallets.size}-${wallet.grants.length}-${account}` };
      await project.must(201, 'POST', `${path}/credits`, body, key);
      if (!fields.mode) return;
      wallet.mode = 'prepaid';
      await project.must(200, 'PUT', path, { mode: 'prepaid' });
    }),
  );

const wait = fc.constant(
  stepOf('wait', async ({ fixture }) => {
    fixture.clock.advanceMs(DAY_S * 1_000);
  }),
);

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: send },
  { weight: 1, arbitrary: reprocess },
  { weight: 2, arbitrary: reprice },
  { weight: 4, arbitrary: correct },
  { weight: 4, arbitrary: correctOne },
  { weight: 3, arbitrary: revert },
  { weight: 1, arbitrary: reroute },
  { weight: 2, arbitrary: credit },
  { weight: 1, arbitrary: wait },
);
