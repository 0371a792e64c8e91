import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { firstRawEventHex } from '../../kernel/id.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';
import { forgetExpired } from './turn-store.js';

const DAY_S = 86_400;

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
let accountId: string;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  fixture.partEvents = 3;
  project = await CorrectionsProject.create(fixture, { token: '1' });
  accountId = (await project.route('c1')).accountId;
});

const eventUrl = (id: string, verb: 'void' | 'replace') => `/usage/events/${id}/${verb}`;
const one = async (content = { customer: 'c1', n: 2 } as object) => {
  const [id = ''] = await project.sendAndRate([content]);
  return id;
};

describe('the filter', () => {
  it('selects processed events, and others by their status', async () => {
    const ids = await project.sendAndRate([
      { customer: 'c1', n: 1 },
      { customer: 'c1', n: 'many' },
    ]);
    const [processed = '', failed = ''] = ids;
    expect(await project.correct({ action: 'void' })).toMatchObject({ events_matched: 1, events_changed: 1 });
    expect(await project.event(failed)).toMatchObject({ status: 'failed', revision: 1 });
    const filterOf = (status: 'failed' | 'voided') => ({ ...project.everything, status });
    expect(await project.correct({ action: 'rerate', filter: filterOf('failed') })).toMatchObject({
      ...{ status: 'applied', events_matched: 1, events_changed: 0, events_failed: [{ count: 1 }] },
    });
    expect(await project.correct({ action: 'void', filter: filterOf('failed') })).toMatchObject({
      events_changed: 1,
    });
    expect(await project.correct({ action: 'rerate', filter: filterOf('voided') })).toMatchObject({
      ...{ events_matched: 2, events_changed: 1, events_failed: [{ count: 1 }] },
    });
    expect(await project.event(processed)).toMatchObject({ status: 'processed', revision: 3 });
    expect(await project.event(failed)).toMatchObject({ status: 'voided', revision: 2 });
  });

  it('corrects an event whole when one of its charge items matches', async () => {
    const id = await one({ customer: 'c1', n: 1, calls: 1, bytes: 1 });
    const filter = {
      ...{ ...project.everything, metric: 'llm.calls', pricing_source: 'extractor' as const },
      dimensions: { '@pricing_source': { in: ['extractor'] }, '@account_id': { exists: true } },
    };
    const other = { ...project.everything, metric: 'llm.calls', pricing_source: 'unpriced' as const };
    expect(await project.correct({ action: 'void', filter: other })).toMatchObject({ events_matched: 0 });
    for (const dimensions of [
      { '@pricing_source': { in: ['unpriced'] } },
      { '@account_id': { in: ['acct_absent'] } },
      { '@subject_id': { exists: false } },
    ]) {
      const filter = { ...project.everything, metric: 'llm.calls', dimensions };
      expect(await project.correct({ action: 'void', filter })).toMatchObject({ events_matched: 0 });
    }
    expect(await project.correct({ action: 'void', filter })).toMatchObject({ events_changed: 1 });
    expect(await project.event(id)).toMatchObject({ status: 'voided', charge_items: [] });
  });

  it('begins with `from` and ends before `to`', async () => {
    await project.sendAndRate([{ customer: 'c1', n: 1 }], 100);
    const at = fixture.nowS - 100;
    for (const [from, to, count] of [
      [at, at + 1, 1],
      [at - 1, at, 0],
      [at + 1, at + 2, 0],
    ] as const) {
      expect(await project.correct({ filter: { from, to }, dry_run: true })).toMatchObject({
        events_matched: count,
      });
    }
  });
});

describe('a corrected event', () => {
  it('is still a duplicate of its key after a void', async () => {
    const content = { customer: 'c1', n: 2 };
    const [id = ''] = await project.send([content], 0, ['same']);
    await fixture.settle();
    await project.void(id);
    const agoS = fixture.nowS - Number.parseInt(id.slice(4, 12), 16);
    expect(await project.send([content], agoS, ['same'])).toEqual([id]);
    await fixture.settle();
    expect(await project.ingestStatus()).toMatchObject({
      voided: 1,
      processed: 0,
      duplicates: 1,
      accepted: 2,
    });
    expect(await project.balance(accountId)).toBe('0');
  });

  it('has no new revision when its content and result are the present ones', async () => {
    const id = await one();
    expect(await project.correct({ action: 'rerate' })).toMatchObject({
      events_matched: 1,
      events_changed: 0,
    });
    expect(await project.replace(id, { customer: 'c1', n: 2 })).toMatchObject({
      status: 'applied',
      events_changed: 0,
    });
    expect(await project.event(id)).toMatchObject({ revision: 1 });
  });

  it('can be replaced by any JSON that an event can be sent with', async () => {
    const id = await one();
    const raw_json = { customer: 'c1', n: 3, filler: 'a\0b\ud800' };
    expect(await project.replace(id, raw_json)).toMatchObject({ status: 'applied', events_changed: 1 });
    expect(await project.event(id)).toMatchObject({ revision: 2, raw_json });
  });

  it('stays as it is when its replacement fails', async () => {
    const id = await one();
    const { status, failure } = await project.replace(id, { customer: 'c1', n: 'many' });
    expect([status, failure?.code]).toEqual(['failed', 'quantity_type_mismatch']);
    expect(await project.event(id)).toMatchObject({ revision: 1, status: 'processed' });
    expect(await project.balance(accountId)).toBe('-2');
  });

  it('uses no quota, and is counted once among unpriced events', async () => {
    const id = await one({ customer: 'c1', bytes: 5 });
    const used = () => fixture.rows('select * from event_quotas where tenant_id = $1', [project.tenantId]);
    const before = await used();
    expect(await project.ingestStatus()).toMatchObject({ unpriced_count: 1 });
    await project.replace(id, { customer: 'c1', bytes: 6 });
    expect(await project.ingestStatus()).toMatchObject({ unpriced_count: 1 });
    const { id: correctionId } = await project.void(id);
    expect(await project.ingestStatus()).toMatchObject({ unpriced_count: 0 });
    await project.change(correctionId, 'revert');
    expect(await project.ingestStatus()).toMatchObject({ unpriced_count: 1, accepted: 1 });
    expect(await used()).toEqual(before);
  });

  it('keeps its revision where rules fail events without a price', async () => {
    const id = await one({ customer: 'c1', bytes: 5 });
    await project.reprice({ token: '1', onUnpriced: 'fail' });
    expect(await project.correct({ action: 'rerate' })).toMatchObject({
      ...{ status: 'applied', events_changed: 0, events_failed: [{ code: 'unpriced', count: 1 }] },
    });
    expect(await project.event(id)).toMatchObject({ status: 'processed', revision: 1 });
  });
});

describe('the account', () => {
  it('that was debited gets the former amount, and pays the new one as long as the subject is the same', async () => {
    const id = await one();
    const { subject_routes } = await project.get('/subject-routes?subject_id=c1');
    const { id: other } = await project.must(201, 'POST', '/accounts', { name: 'other' });
    const fields = { subject_type: 'customer', subject_id: 'c1', account_id: other };
    await project.must(200, 'PUT', `/subject-routes/${subject_routes[0].id}`, fields);
    await project.replace(id, { customer: 'c1', n: 7 });
    expect([await project.balance(accountId), await project.balance(other)]).toEqual(['-7', undefined]);
    const { accountId: third } = await project.route('c3');
    await project.replace(id, { customer: 'c3', n: 5 });
    expect([await project.balance(accountId), await project.balance(third)]).toEqual(['0', '-5']);
    await project.replace(id, { customer: 'c1', n: 4 });
    expect([await project.balance(accountId), await project.balance(other)]).toEqual(['0', '-4']);
  });

  it('of a route that came later pays for an event that is rated again', async () => {
    const id = await one({ customer: 'late', n: 3 });
    expect(await project.event(id)).toMatchObject({ posting: 'unrouted' });
    const { accountId: late } = await project.route('late');
    expect(await project.correct({ action: 'rerate' })).toMatchObject({ events_changed: 1 });
    expect(await project.balance(late)).toBe('-3');
    expect(await project.correct({ action: 'rerate' })).toMatchObject({ events_changed: 0 });
  });
});

describe('history that is not kept', () => {
  async function hideBefore(days: number): Promise<void> {
    await fixture.rows(
      `insert into usage_retention (tenant_id, project_id, retained_from_day, shown_from_day, recorded_at_ms)
      values ($1, $2, $3, $3, 0)`,
      [project.tenantId, project.projectId, Math.floor(fixture.nowS / DAY_S) - days],
    );
    fixture.history.forget();
  }

  it('cannot be corrected', async () => {
    const [old = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }], 10 * DAY_S);
    await project.sendAndRate([{ customer: 'c1', n: 3 }]);
    const path = eventUrl(old, 'void');
    const key = { 'idempotency-key': 'late' };
    const { correction_id: late } = await project.must(202, 'POST', path, { reason: 'late' }, key);
    await hideBefore(5);
    expect(await project.must(202, 'POST', path, { reason: 'late' }, key)).toEqual({ correction_id: late });
    // That other events are not rated yet does not matter.
    await project.send([{ customer: 'c2', n: 1 }]);
    expect((await project.call('POST', path, { reason: 'x' })).status).toBe(404);
    expect(await project.ended(late)).toMatchObject({ status: 'failed', failure: { code: 'not_found' } });
    expect(await project.correct({ action: 'void' })).toMatchObject({ events_matched: 1, events_changed: 1 });
    expect(await project.balance(accountId)).toBe('-2');
  });

  it('stays corrected when the correction is reverted', async () => {
    const [old = '', young = ''] = [
      ...(await project.sendAndRate([{ customer: 'c1', n: 2 }], 10 * DAY_S)),
      ...(await project.sendAndRate([{ customer: 'c1', n: 3 }])),
    ];
    const { id } = await project.correct({ action: 'void' });
    await hideBefore(5);
    expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted', applied: { events: 1 } });
    expect((await project.call('GET', `/usage/events/${old}`)).status).toBe(404);
    expect(await project.event(young)).toMatchObject({ status: 'processed', revision: 3 });
    expect(await project.balance(accountId)).toBe('-3');
  });

  /** Hides old events, and deletes what is kept of them for corrections. */
  async function forgetBefore(days: number): Promise<void> {
    await hideBefore(days);
    const firstId = firstRawEventHex(fixture.nowS - days * DAY_S);
    await forgetExpired(fixture.api.postgres, [{ projectId: project.projectId, firstId }], 100);
  }

  it('stays corrected when its parts are deleted before the revert', async () => {
    fixture.partEvents = 1;
    for (const [n, agoS] of [
      [2, 10 * DAY_S],
      [3, 0],
    ] as const)
      await project.sendAndRate([{ customer: 'c1', n }], agoS);
    const { id } = await project.correct({ action: 'void' });
    await forgetBefore(5);
    expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted', applied: { events: 1 } });
    expect(await project.balance(accountId)).toBe('-3');
  });

  it('makes a plan stale whose parts were deleted', async () => {
    fixture.partEvents = 1;
    await project.sendAndRate([{ customer: 'c1', n: 2 }], 10 * DAY_S);
    await project.sendAndRate([{ customer: 'c1', n: 3 }]);
    const { id } = await project.correct({ action: 'void', dry_run: true });
    await forgetBefore(5);
    expect(await project.change(id, 'apply')).toMatchObject({ status: 'stale', applied: { events: 0 } });
  });

  it('supersedes nothing, and is not given back to be rated again', async () => {
    const failing = { customer: 'c1', n: 'many' };
    await project.sendAndRate([failing], 10 * DAY_S);
    const [young = ''] = await project.sendAndRate([failing]);
    const { id } = await project.correct({
      action: 'void',
      filter: { ...project.everything, status: 'failed' },
    });
    await forgetBefore(5);
    expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted', applied: { events: 1 } });
    const failed = `select 'evt_' || encode(uuid_send(raw_event_id), 'hex') as id from failed_events where project_id = $1`;
    expect(await fixture.rows(failed, [project.projectId])).toEqual([{ id: young }]);
    expect(await project.ingestStatus()).toMatchObject({ failed: 1, voided: 1 });
  });
});
