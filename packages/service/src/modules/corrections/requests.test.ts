import { CORRECTIONS_OPEN_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

const UNKNOWN_EVENT = `evt_${'0'.repeat(32)}`;

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
let eventId: string;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  project = await CorrectionsProject.create(fixture, { token: '1' });
  await project.route('c1');
  [eventId = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
});

const voidUrl = () => `/usage/events/${eventId}/void`;
const many = () => ({ action: 'void', filter: project.everything, reason: 'all wrong' });
const reason = { reason: 'sent twice' };
const audited = (id: string) =>
  fixture.rows('select action, actor, change from audit_log where resource_id = $1 order by id', [id]);

describe('permissions', () => {
  it('usage:correct reads usage too, and usage:read does not correct', async () => {
    const [reader, corrector, other] = [
      await project.makeKey(['usage:read']),
      await project.makeKey(['usage:correct']),
      await project.makeKey(['analytics:read']),
    ];
    const { id } = await project.correct({ action: 'void', dry_run: true });
    const path = `/usage/corrections/${id}`;
    const statusOf = async (key: string, method: 'GET' | 'POST' | 'DELETE', url: string, body?: object) =>
      (await project.call(method, url, body, {}, key)).status;
    for (const url of ['/usage/corrections', path, `/usage/events/${eventId}`]) {
      expect([url, await statusOf(reader, 'GET', url)]).toEqual([url, 200]);
      expect([url, await statusOf(corrector, 'GET', url)]).toEqual([url, 200]);
      expect([url, await statusOf(other, 'GET', url)]).toEqual([url, 403]);
    }
    const writes = [
      ['POST', voidUrl(), reason],
      ['POST', `/usage/events/${eventId}/replace`, { ...reason, raw_json: {} }],
      ['POST', '/usage/corrections', many()],
      ['POST', `${path}/apply`, undefined],
      ['POST', `${path}/revert`, undefined],
      ['DELETE', path, undefined],
    ] as const;
    for (const [method, url, body] of writes)
      expect([url, await statusOf(reader, method, url, body)]).toEqual([url, 403]);
    expect(await statusOf(corrector, 'POST', `${path}/apply`)).toBe(202);
  });

  it('another tenant sees neither corrections nor events', async () => {
    const { id } = await project.correct({ action: 'void', dry_run: true });
    const other = await CorrectionsProject.create(fixture);
    const urls = [`/usage/corrections/${id}/apply`, `/usage/corrections/${id}/revert`, voidUrl()];
    for (const url of urls)
      expect((await other.call('POST', url, url === voidUrl() ? reason : undefined)).status).toBe(404);
    expect((await other.call('GET', `/usage/corrections/${id}`)).status).toBe(404);
    expect((await other.call('DELETE', `/usage/corrections/${id}`)).status).toBe(404);
    expect(await other.get('/usage/corrections')).toMatchObject({ corrections: [], total_count: 0 });
    expect(await project.correction(id)).toMatchObject({ status: 'planned' });
  });
});

describe('requests', () => {
  it('need a reason of 1 to 500 characters that is not blank', async () => {
    for (const text of [undefined, '', '  ', 'x'.repeat(501), 'a\0b']) {
      const requests = [
        [voidUrl(), { reason: text }],
        [`/usage/events/${eventId}/replace`, { raw_json: {}, reason: text }],
        ['/usage/corrections', { ...many(), reason: text }],
      ] as const;
      for (const [url, body] of requests) {
        const { status } = await project.call('POST', url, body);
        expect([url, text, status]).toEqual([url, text, 400]);
      }
    }
    expect(await project.must(202, 'POST', voidUrl(), { reason: 'x'.repeat(500) })).toHaveProperty(
      'correction_id',
    );
  });

  it('are refused where they contradict themselves or name nothing that exists', async () => {
    const { from, to } = project.everything;
    const bodies = [
      { ...many(), filter: undefined },
      { ...many(), filter: { from: to, to: from } },
      { ...many(), filter: { from } },
      { ...many(), rules: { pricing: [] } },
      { ...many(), backtest_id: 'bt_1' },
      { ...many(), action: 'rerate', rules: { extractor: { id: 'ers_unknown', version: 1 } } },
    ];
    for (const body of bodies) {
      const { status, text } = await project.call('POST', '/usage/corrections', body);
      expect([text, status]).toEqual([text, 400]);
    }
    const filter = { from, to, dimensions: { model: {} } };
    const named = await project.must(400, 'POST', '/usage/corrections', { ...many(), filter });
    expect(named.details[0].path).toBe('filter.dimensions.model');
    for (const id of [UNKNOWN_EVENT, 'evt_1']) {
      expect((await project.call('POST', `/usage/events/${id}/void`, reason)).status).toBe(404);
    }
    expect((await project.call('POST', '/usage/corrections/cor_1/apply')).status).toBe(404);
  });

  it('with an Idempotency-Key have one effect, and a key belongs to one request', async () => {
    const key = { 'idempotency-key': 'key-1' };
    const { id } = await project.must(202, 'POST', '/usage/corrections', many(), key);
    expect(await project.must(202, 'POST', '/usage/corrections', many(), key)).toEqual({
      id,
      status: 'planning',
    });
    const other = await project.call('POST', '/usage/corrections', { ...many(), reason: 'other' }, key);
    expect([other.status, other.json().code]).toEqual([409, 'idempotency_key_conflict']);
    await project.ended(id);
    expect(await project.get('/usage/corrections')).toMatchObject({ total_count: 1 });
    const path = `/usage/corrections/${id}/revert`;
    const reverted = await project.must(202, 'POST', path, undefined, { 'idempotency-key': 'key-2' });
    await project.ended(id);
    expect(await project.must(202, 'POST', path, undefined, { 'idempotency-key': 'key-2' })).toEqual(
      reverted,
    );
    expect(await project.event(eventId)).toMatchObject({ revision: 3 });
  });

  it('without a key return the correction that has done the same, and repeat nothing', async () => {
    const replace = () =>
      project.must(202, 'POST', `/usage/events/${eventId}/replace`, {
        ...reason,
        raw_json: { customer: 'c1', n: 3 },
      });
    const first = await replace();
    expect(await replace()).toEqual(first);
    await project.ended(first.correction_id);
    expect(await replace()).toEqual(first);
    const { id } = await project.correct({ action: 'void' });
    expect(await project.must(202, 'POST', voidUrl(), reason)).toEqual({ correction_id: id });
    expect(await project.change(id, 'apply')).toMatchObject({ status: 'applied', applied: { events: 1 } });
    await project.change(id, 'revert');
    expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted', applied: { events: 0 } });
    expect(await project.event(eventId)).toMatchObject({ revision: 4, charge_items: [{ quantity: '3' }] });
    expect(await replace()).toEqual(first);
  });
});

it('more corrections in progress than a project may have are refused', async () => {
  const { id } = await project.correct({ action: 'void', dry_run: true });
  const columns = `tenant_id, project_id, action, request, reason, is_applied_at_once, created_by, created_at_ms`;
  await fixture.rows(
    `insert into usage_corrections (id, status, busy_until_ms, ${columns})
     select id || n, 'planning', $2, ${columns} from usage_corrections, generate_series(1, $3) as n where id = $1`,
    [id, fixture.clock.nowMs() + 1_000_000, CORRECTIONS_OPEN_MAX],
  );
  const refused = await project.call('POST', '/usage/corrections', many());
  expect([refused.status, refused.json().code]).toEqual([409, 'correction_limit_reached']);
  await fixture.rows('delete from usage_corrections where id = $1', [`${id}1`]);
  expect((await project.call('POST', voidUrl(), reason)).status).toBe(202);
  await fixture.rows('delete from usage_corrections where project_id = $1', [project.projectId]);
});

it('the same correction of an event that is requested several times at once is one correction', async () => {
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => project.must(202, 'POST', voidUrl(), reason)),
  );
  expect(new Set(answers.map(({ correction_id }) => correction_id)).size).toBe(1);
  expect(await project.ended(answers[0].correction_id)).toMatchObject({ status: 'applied' });
});

describe('what is shown', () => {
  it('lists corrections newest first, also of single events, by status and event', async () => {
    const plan = await project.correct({ action: 'void', dry_run: true });
    const single = await project.void(eventId);
    const listed = async (query: string) => {
      const { corrections, total_count } = await project.get(`/usage/corrections${query}`);
      return [corrections.map(({ id }: { id: string }) => id), total_count];
    };
    expect(await listed('')).toEqual([[single.id, plan.id], 2]);
    expect(await listed('?limit=1&offset=1')).toEqual([[plan.id], 2]);
    expect(await listed('?status=planned')).toEqual([[plan.id], 1]);
    expect(await listed(`?raw_event_id=${eventId}`)).toEqual([[single.id, plan.id], 2]);
    expect(await listed(`?raw_event_id=${UNKNOWN_EVENT}`)).toEqual([[], 0]);
  });

  it('names the author, the reason and the time in each revision', async () => {
    const { id, created_by } = await project.void(eventId);
    await project.change(id, 'revert');
    const { revisions } = await project.event(eventId);
    expect(created_by).toMatch(/^key_/);
    expect(revisions).toMatchObject([
      {
        revision: 1,
        status: 'processed',
        correction_id: null,
        actor: null,
        reason: null,
        charge_items: [{}],
      },
      {
        revision: 2,
        status: 'voided',
        correction_id: id,
        actor: created_by,
        reason: 'void',
        charge_items: [],
      },
      {
        revision: 3,
        status: 'processed',
        correction_id: id,
        actor: created_by,
        charge_items: [{ amount: '2' }],
      },
    ]);
  });

  it('names who has applied and reverted a plan, in the correction, the revisions and the audit log', async () => {
    const { id, created_by } = await project.correct({ action: 'void', dry_run: true });
    const path = `/usage/corrections/${id}`;
    for (const verb of ['apply', 'revert']) {
      const key = await project.makeKey(['usage:correct']);
      expect((await project.call('POST', `${path}/${verb}`, undefined, {}, key)).status).toBe(202);
      await project.ended(id);
    }
    const { applied_by, reverted_by } = await project.correction(id);
    expect(new Set([created_by, applied_by, reverted_by, null]).size).toBe(4);
    const { revisions } = await project.event(eventId);
    const actors = revisions.map(({ actor }: { actor: string }) => actor);
    expect(actors).toEqual([null, applied_by, reverted_by]);
    expect(await audited(id)).toMatchObject([
      { action: 'usage_correction.create', actor: created_by },
      { action: 'usage_correction.apply', actor: applied_by },
      { action: 'usage_correction.revert', actor: reverted_by },
    ]);
  });

  it('is in the audit log where a plan was deleted, or was stale when it was applied', async () => {
    const [deleted, stale] = [
      await project.correct({ action: 'void', dry_run: true }),
      await project.correct({ action: 'void', dry_run: true }),
    ];
    await project.must(200, 'DELETE', `/usage/corrections/${deleted.id}`);
    await project.replace(eventId, { customer: 'c1', n: 5 });
    await project.change(stale.id, 'apply');
    expect(await audited(deleted.id)).toMatchObject([
      { change: { dry_run: true, filter: project.everything } },
      { action: 'usage_correction.discard', change: { status: 'expired' } },
    ]);
    expect(await audited(stale.id)).toMatchObject([
      {},
      { action: 'usage_correction.apply', change: { status: 'stale', events_in_force: 0, totals: [] } },
    ]);
  });

  it('is in the audit log with the reason of an apply, a revert and a deletion', async () => {
    const changed = await project.correct({ action: 'void', dry_run: true });
    const path = `/usage/corrections/${changed.id}`;
    for (const verb of ['apply', 'revert'] as const) {
      await project.must(202, 'POST', `${path}/${verb}`, { reason: `${verb} it` });
      await project.ended(changed.id);
    }
    const deleted = await project.correct({ action: 'void', dry_run: true });
    await project.must(200, 'DELETE', `/usage/corrections/${deleted.id}?reason=not%20needed`);
    expect(await audited(changed.id)).toMatchObject([
      {},
      { action: 'usage_correction.apply', change: { reason: 'test', change_reason: 'apply it' } },
      { action: 'usage_correction.apply', change: { status: 'applied', events_in_force: 1 } },
      { action: 'usage_correction.revert', change: { reason: 'test', change_reason: 'revert it' } },
      { action: 'usage_correction.revert', change: { status: 'reverted' } },
    ]);
    expect(await audited(deleted.id)).toMatchObject([
      {},
      { action: 'usage_correction.discard', change: { status: 'expired', change_reason: 'not needed' } },
    ]);
    const ofPlan = await project.correct({ action: 'void', dry_run: true });
    for (const reason of ['', ' ', 'x'.repeat(501), 'a\u0000'])
      expect((await project.call('POST', `/usage/corrections/${ofPlan.id}/apply`, { reason })).status).toBe(
        400,
      );
    const apply = (reason: string) =>
      project.call('POST', `/usage/corrections/${ofPlan.id}/apply`, { reason }, { 'idempotency-key': 'why' });
    expect([(await apply('one')).status, (await apply('one')).status]).toEqual([202, 202]);
    expect((await apply('other')).status).toBe(409);
  });

  it('is in the audit log, with the totals of what was applied and reverted', async () => {
    const { id, created_by, totals } = await project.correct({ action: 'void' });
    await project.change(id, 'revert');
    const by = { actor: created_by };
    expect(await audited(id)).toMatchObject([
      { ...by, action: 'usage_correction.create', change: { action: 'void', reason: 'test' } },
      { ...by, action: 'usage_correction.apply', change: { events_in_force: 1, totals, totals_count: 1 } },
      { ...by, action: 'usage_correction.revert', change: { events_in_force: 0, totals, totals_count: 1 } },
    ]);
  });
});
