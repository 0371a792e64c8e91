import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRuleSets } from '../rules/index.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { hangingPostgres } from './death.testing.js';
import { CorrectionsProject } from './project.testing.js';
import { Corrections } from './requests.js';

const DAY_MS = 86_400_000;
/** More than the time for which a process has a correction to itself. */
const TURN_MS = 61_000;
const TEN_EVENTS = Array.from({ length: 10 }, (_, index) => ({ customer: 'c1', n: index + 1 }));

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
let accountId: string;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  fixture.eventsMax = undefined;
  project = await CorrectionsProject.create(fixture, { token: '1' });
  accountId = (await project.route('c1')).accountId;
});

/** Plans a correction without applying it. */
const planned = async (request: Parameters<CorrectionsProject['correct']>[0] = { action: 'void' }) => {
  const plan = await project.correct({ ...request, dry_run: true });
  expect(plan).toMatchObject({ status: 'planned', applied: { events: 0, totals: [] } });
  return plan;
};
const transactionsOf = (entries: readonly { transaction_id: string }[]) =>
  new Set(entries.map(({ transaction_id }) => transaction_id)).size;
const codeOf = async (path: string, method: 'POST' | 'DELETE' = 'POST') =>
  (await project.call(method, path)).json().code;

describe('a planned correction of many parts', () => {
  it('posts exactly what it has announced', async () => {
    await project.sendAndRate(TEN_EVENTS);
    await project.reprice({ token: '3' });
    const plan = await planned({ action: 'rerate' });
    const total = { metric: 'llm.tokens', currency: 'USD', account_id: accountId };
    expect(plan).toMatchObject({
      ...{ events_matched: 10, events_changed: 10 },
      totals: [{ ...total, amount: { before: '55', after: '165', delta: '110' } }],
    });
    // Prices that are published after the plan do not change it.
    await project.reprice({ token: '9' });
    const { applied, totals } = await project.change(plan.id, 'apply');
    expect([totals, applied]).toEqual([plan.totals, { events: 10, totals: plan.totals }]);
    expect(await project.balance(accountId)).toBe('-165');
    const { entries } = await project.get(`/accounts/${accountId}/ledger?kind=correction&limit=100`);
    const amounts = entries.filter(
      (entry: { correction_id: string; transaction_id: string }) => entry.correction_id === plan.id,
    );
    expect(transactionsOf(amounts)).toBe(4);
  });

  it('shows the events and the totals in force of the same moment', async () => {
    await project.sendAndRate(TEN_EVENTS);
    const { id } = await planned();
    await project.must(202, 'POST', `/usage/corrections/${id}/apply`);
    const { clock, history, house } = fixture;
    const { postgres } = fixture.api;
    const corrections = new Corrections({
      ...{ clock, history, clickhouse: house.clickhouse, ruleSets: createRuleSets({ postgres, clock }) },
      postgres: hangingPostgres(postgres, () => fixture.finish()),
    });
    const { tenantId, projectId } = project;
    const ref = { tenantId, projectId, projectNo: 0, kind: 'release', storage: 'shared' } as const;
    expect(await corrections.read(ref, id)).toMatchObject({
      ...{ status: 'applying', applied: { events: 0, totals: [] } },
    });
    expect(await project.correction(id)).toMatchObject({ status: 'applied', applied: { events: 10 } });
  });

  it('that is stale before anything was applied says to plan it again', async () => {
    const [first = ''] = (await project.sendAndRate(TEN_EVENTS)).sort();
    const plan = await planned();
    await project.replace(first, { customer: 'c1', n: 100 });
    const { failure } = await project.change(plan.id, 'apply');
    const problem = `The event ${first} was changed after the plan.`;
    expect(failure?.message).toBe(`${problem} Plan the correction again. Events in force: 0.`);
  });

  it('is stale if an event was changed meanwhile, says what is in force, and is reverted', async () => {
    const ids = await project.sendAndRate(TEN_EVENTS);
    const plan = await planned();
    const seventh = [...ids].sort()[6] ?? '';
    await project.replace(seventh, { customer: 'c1', n: 100 });
    const before = await project.balance(accountId);
    const stale = await project.change(plan.id, 'apply');
    expect(stale).toMatchObject({
      status: 'stale',
      failure: { code: 'correction_stale' },
      applied: { events: 6 },
    });
    expect(stale.failure?.message).toContain(seventh);
    const next = 'Revert the correction, or plan it again. Events in force: 6.';
    expect(stale.failure?.message).toContain(next);
    expect(await codeOf(`/usage/corrections/${plan.id}/apply`)).toBe('correction_not_planned');
    expect(await project.change(plan.id, 'revert')).toMatchObject({
      ...{ status: 'reverted', failure: null, applied: { events: 0, totals: [] } },
    });
    expect(await project.balance(accountId)).toBe(before);
    expect(await project.event(seventh)).toMatchObject({ revision: 2, charge_items: [{ quantity: '100' }] });
  });

  it('is applied once when a process hangs for longer than its turn and then continues', async () => {
    await project.sendAndRate(TEN_EVENTS);
    const plan = await planned();
    await project.must(202, 'POST', `/usage/corrections/${plan.id}/apply`);
    const hanging = hangingPostgres(fixture.api.postgres, async () => {
      fixture.clock.advanceMs(TURN_MS);
      await fixture.advance();
      expect(await project.correction(plan.id)).toMatchObject({ status: 'applied' });
    });
    await fixture.advance(hanging);
    await fixture.settle();
    expect(await project.correction(plan.id)).toMatchObject({ status: 'applied', applied: { events: 10 } });
    expect(await project.balance(accountId)).toBe('0');
    const { entries } = await project.get(`/accounts/${accountId}/ledger?kind=correction&limit=100`);
    expect(transactionsOf(entries)).toBe(4);
  });
});

it('waits while too many rows are on their way to ClickHouse', async () => {
  await project.sendAndRate([{ customer: 'c1', n: 2 }]);
  const id = await project.start({ action: 'void' });
  const [waiting] = await fixture.rows<{ id: number }>(
    `insert into usage_batches (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids,
       touched, first_days, last_day, bytes, shard)
     values (0, 0, 0, 0, $1, '{}', '{}', '{}', 0, '', 0) returning id`,
    [256 * 1_048_576],
  );
  await fixture.advance();
  expect(await project.correction(id)).toMatchObject({ status: 'applying', applied: { events: 0 } });
  await fixture.rows('delete from usage_batches where id = $1', [waiting?.id]);
  expect(await project.ended(id)).toMatchObject({ status: 'applied' });
});

describe('two corrections of the same event', () => {
  it('are done one after the other when both apply at once', async () => {
    const [id = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const [first, second] = [
      await project.must(202, 'POST', `/usage/events/${id}/replace`, {
        raw_json: { customer: 'c1', n: 3 },
        reason: 'x',
      }),
      await project.must(202, 'POST', `/usage/events/${id}/replace`, {
        raw_json: { customer: 'c1', n: 5 },
        reason: 'x',
      }),
    ].map(({ correction_id }) => correction_id);
    await fixture.finish(2);
    const ends = [await project.correction(first), await project.correction(second)];
    const inForce = ends.filter(({ status }) => status === 'applied');
    expect(inForce.length).toBeGreaterThan(0);
    for (const { status, applied } of ends)
      expect([status, applied.events]).toEqual(status === 'stale' ? ['stale', 0] : ['applied', 1]);
    const { revision, charge_items, revisions } = await project.event(id);
    expect(revision).toBe(1 + inForce.length);
    expect(revisions).toHaveLength(revision);
    expect(await project.balance(accountId)).toBe(`-${charge_items[0].amount}`);
  });

  it('are reverted only from the last one', async () => {
    const [id = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const first = await project.correct({ action: 'void' });
    const filter = { ...project.everything, status: 'voided' as const };
    const second = await project.correct({ action: 'rerate', filter });
    expect(await project.event(id)).toMatchObject({
      status: 'processed',
      revision: 3,
      charge_items: [{ amount: '2' }],
    });
    const refused = await project.must(409, 'POST', `/usage/corrections/${first.id}/revert`);
    const message = `${second.id} has changed an event of this correction`;
    expect(refused).toMatchObject({ code: 'correction_superseded', details: [{ path: '', message }] });
    await project.change(second.id, 'revert');
    expect(await project.event(id)).toMatchObject({ status: 'voided', revision: 4 });
    await project.change(first.id, 'revert');
    expect(await project.event(id)).toMatchObject({
      status: 'processed',
      revision: 5,
      charge_items: [{ amount: '2' }],
    });
    expect(await project.balance(accountId)).toBe('-2');
  });
});

describe('a revert', () => {
  it('is stale if a later correction changes an event meanwhile, and goes on when that one is reverted', async () => {
    const ids = await project.sendAndRate(TEN_EVENTS);
    const { id } = await project.correct({ action: 'void' });
    await project.must(202, 'POST', `/usage/corrections/${id}/revert`);
    const last = [...ids].sort().at(-1) ?? '';
    let laterId = '';
    const hanging = hangingPostgres(fixture.api.postgres, async () => {
      laterId = (await project.replace(last, { customer: 'c1', n: 100 })).id;
    });
    await fixture.advance(hanging);
    const stale = await project.ended(id);
    expect(stale).toMatchObject({
      status: 'stale',
      failure: { code: 'correction_superseded' },
      applied: { events: 1 },
    });
    expect(stale.failure?.message).toContain(last);
    const url = `/usage/corrections/${id}/revert`;
    expect(await codeOf(url)).toBe('correction_superseded');
    await project.change(laterId, 'revert');
    expect(await project.change(id, 'revert')).toMatchObject({
      ...{ status: 'reverted', failure: null, applied: { events: 0, totals: [] } },
    });
    expect(await project.balance(accountId)).toBe('-55');
  });
});

describe('a plan', () => {
  it('ends by DELETE, and cannot be applied then', async () => {
    await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const { id } = await planned();
    const path = `/usage/corrections/${id}`;
    expect(await codeOf(`${path}/revert`)).toBe('correction_not_applied');
    expect(await project.must(200, 'DELETE', path)).toMatchObject({ status: 'expired' });
    expect(await project.must(200, 'DELETE', path)).toMatchObject({ status: 'expired' });
    expect(await codeOf(`${path}/apply`)).toBe('correction_not_planned');
    expect(await codeOf(`${path}/revert`)).toBe('correction_not_applied');
    expect(await fixture.rows('select from usage_correction_parts where correction_id = $1', [id])).toEqual(
      [],
    );
  });

  it('ends after seven days, even before the job has noticed', async () => {
    await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const { id } = await planned();
    fixture.clock.advanceMs(7 * DAY_MS - 1_000);
    await fixture.sweep();
    expect(await project.correction(id)).toMatchObject({ status: 'planned' });
    fixture.clock.advanceMs(2_000);
    expect(await codeOf(`/usage/corrections/${id}/apply`)).toBe('correction_not_planned');
    await fixture.sweep();
    expect(await project.correction(id)).toMatchObject({ status: 'expired' });
  });

  it('is never deleted once it is applied', async () => {
    await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const { id } = await project.correct({ action: 'void' });
    expect(await codeOf(`/usage/corrections/${id}`, 'DELETE')).toBe('correction_not_planned');
  });

  it('fails at once when too many events match, whatever their earlier revisions, and keeps no parts', async () => {
    fixture.eventsMax = 7;
    const ids = await project.sendAndRate(TEN_EVENTS.slice(0, 8));
    const { id } = await project.correct({ action: 'void' });
    expect(await project.correction(id)).toMatchObject({
      ...{ status: 'failed', events_matched: 0, applied: { events: 0 } },
      failure: {
        code: 'correction_too_large',
        message:
          'At least 8 events match, and a correction takes at most 7 (CORRECTION_EVENTS_MAX). Narrow the filter.',
      },
    });
    const moved = await project.void(ids[0] ?? '');
    expect(await project.correct({ action: 'void', dry_run: true })).toMatchObject({ status: 'planned' });
    await project.change(moved.id, 'revert');
    expect(await project.balance(accountId)).toBe('-36');
  });

  it('fails while it is planned where attempts hide how many events match, and keeps no parts', async () => {
    fixture.eventsMax = 7;
    await project.sendAndRate(TEN_EVENTS.slice(0, 8).map((event) => ({ ...event, n: 'none' })));
    const { id } = await project.correct({
      action: 'void',
      filter: { ...project.everything, status: 'failed' },
    });
    expect(await project.correction(id)).toMatchObject({
      ...{ status: 'failed', failure: { code: 'correction_too_large' }, applied: { events: 0 } },
    });
    expect(await fixture.rows('select from usage_correction_parts where correction_id = $1', [id])).toEqual(
      [],
    );
  });

  it('does not contain what arrives after it', async () => {
    await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const { id } = await planned();
    await project.sendAndRate([{ customer: 'c1', n: 4 }]);
    await project.change(id, 'apply');
    expect(await project.balance(accountId)).toBe('-4');
  });
});

it('leaves both stores equal', async () => {
  await fixture.settle();
  const nothing = { difference_count: 0 };
  expect(await fixture.verify()).toMatchObject({ status: 'equal', ledger: nothing, postings: nothing });
  expect(fixture.defects).toEqual([]);
});
