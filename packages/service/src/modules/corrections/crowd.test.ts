import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fromStored, toText } from '../../kernel/decimal.js';
import { stored } from '../../testing/index.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { content } from './corrections-steps.testing.js';
import { CorrectionsProject } from './project.testing.js';

const RUNS = Number(process.env.TOLLGATE_MODEL_RUNS ?? 4);
const SEED = Number(process.env.TOLLGATE_MODEL_SEED ?? 5);
const TIMEOUT_MS = 60_000 + RUNS * 15_000;
const ENDED = ['applied', 'reverted', 'stale', 'failed'];

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

const task = fc.oneof(
  fc.record({
    does: fc.constant('many' as const),
    action: fc.constantFrom('void', 'rerate'),
    status: fc.constantFrom('processed', 'voided', 'failed'),
  }),
  fc.record({ does: fc.constant('one' as const), at: fc.nat(20), replacement: fc.option(content) }),
  fc.record({ does: fc.constant('revert' as const), at: fc.nat(20) }),
  fc.record({
    does: fc.constant('send' as const),
    contents: fc.array(content, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    does: fc.constant('die' as const),
    statement: fc.integer({ min: 1, max: 60 }),
    isExecuted: fc.boolean(),
  }),
  fc.record({ does: fc.constantFrom('work' as const, 'rate' as const, 'reprocess' as const) }),
);
type Task = typeof task extends fc.Arbitrary<infer T> ? T : never;

/** The events and corrections that requests of a run name. */
interface Known {
  readonly events: string[];
  readonly corrections: string[];
}

/** Does something that may be refused because of what others do at the same time. */
async function perform(
  project: CorrectionsProject,
  { events, corrections }: Known,
  asked: Task,
): Promise<unknown> {
  switch (asked.does) {
    case 'many': {
      const filter = { ...project.everything, status: asked.status };
      const body = { action: asked.action, filter, reason: 'crowd' };
      return corrections.push((await project.must(202, 'POST', '/usage/corrections', body)).id);
    }
    case 'one': {
      const body = asked.replacement === null ? {} : { raw_json: asked.replacement };
      const verb = asked.replacement === null ? 'void' : 'replace';
      const path = `/usage/events/${events[asked.at % events.length]}/${verb}`;
      const { status, json } = await project.call('POST', path, { ...body, reason: 'crowd' });
      if (status === 202) corrections.push(json().correction_id);
      else expect(json()).toMatchObject({ code: 'event_not_rated' });
      return;
    }
    case 'revert': {
      const id = corrections[asked.at % Math.max(1, corrections.length)];
      if (id === undefined) return;
      const { status } = await project.call('POST', `/usage/corrections/${id}/revert`);
      return expect([202, 409]).toContain(status);
    }
    case 'send':
      return events.push(...(await project.send(asked.contents)));
    case 'die':
      return fixture.advanceUntil(asked);
    case 'work':
      return fixture.advance();
    case 'rate':
      return fixture.rate();
    case 'reprocess':
      return project.must(202, 'POST', '/usage/events/reprocess', project.everything);
  }
}

/** Expects that everything is the sum of the events as they are now. */
async function expectConsistent(project: CorrectionsProject, { corrections }: Known, accountId: string) {
  for (const id of corrections) expect(ENDED).toContain((await project.correction(id)).status);
  const { events } = await project.get('/usage/events?limit=100');
  const counts = { processed: 0, failed: 0, voided: 0 };
  const amounts = { USD: 0n, EUR: 0n };
  for (const { raw_event_id, revision, status, charge_items, posting } of events) {
    counts[status as keyof typeof counts]++;
    for (const { currency, amount } of posting === 'posted' ? charge_items : []) {
      if (currency !== null) amounts[currency as keyof typeof amounts] += stored(amount);
    }
    if (revision === 1) continue;
    const { revisions } = await project.event(raw_event_id);
    const numbers = revisions.map((one: { revision: number }) => one.revision);
    expect(numbers).toEqual(Array.from({ length: revision }, (_, index) => index + 1));
  }
  expect(await project.ingestStatus()).toMatchObject({
    ...counts,
    duplicates: 0,
    pending: 0,
    accepted: events.length,
  });
  for (const currency of ['USD', 'EUR'] as const) {
    const spent = toText(fromStored(-amounts[currency]));
    expect((await project.balance(accountId, currency)) ?? '0').toBe(spent);
  }
}

it(
  'leaves everything consistent when requests, corrections, events and deaths meet',
  async () => {
    fixture.partEvents = 2;
    const groups = fc.array(fc.array(task, { minLength: 2, maxLength: 5 }), { minLength: 4, maxLength: 7 });
    await fc.assert(
      fc.asyncProperty(groups, async (performed) => {
        const project = await CorrectionsProject.create(fixture);
        const { accountId } = await project.route('*');
        const known: Known = { events: [], corrections: [] };
        known.events.push(...(await project.sendAndRate(fc.sample(content, { seed: SEED, numRuns: 9 }))));
        await project.reprice({ token: '0.7' });
        for (const group of performed) {
          await Promise.all(group.map((one) => perform(project, known, one)));
          fixture.clock.advanceMs(1_000);
        }
        await fixture.rate();
        await fixture.project();
        await fixture.finish(3);
        await expectConsistent(project, known, accountId);
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    );
    const nothing = { difference_count: 0 };
    expect(await fixture.verify()).toMatchObject({
      ...{ status: 'equal', differences: [], ledger: nothing, postings: nothing, quotas: nothing },
    });
    expect(fixture.defects).toEqual([]);
  },
  TIMEOUT_MS,
);
