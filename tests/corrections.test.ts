import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const EXTRACTOR = {
  subject: { default_type: 'customer', id_path: 'customer' },
  dimensions: [{ name: 'model', path: 'model', type: 'string' }],
  charge_item_extractors: [
    {
      metric: 'llm.tokens',
      path: 'n',
      type: 'number',
      unit: 'token',
      unit_price_expr: 'dec("0.5")',
      currency: 'USD',
    },
  ],
};

let service: RunningService;
let sample: SampleProject;
let project: string;
let extractorId: string;
let accountId: string;
const occurredAt = Math.floor(Date.now() / 1000) - 100;

beforeAll(async () => {
  service = await startService();
  sample = await createSampleProject(service);
  project = `/v1/projects/${sample.projectId}`;
  const { id } = await created(service, `${project}/extractor-rule-sets`, {
    key: sample.key,
    body: { ...EXTRACTOR, effective_from: occurredAt - 60 },
  });
  extractorId = String(id);
  await post(`/extractor-rule-sets/${extractorId}/publish`);
  accountId = (await post('/accounts', { name: 'c1' })).id;
  await post('/subject-routes', { subject_type: 'customer', subject_id: 'c1', account_id: accountId });
});
afterAll(() => service?.stop());

async function send(method: 'GET' | 'POST' | 'DELETE' | 'PUT', path: string, body?: object) {
  const answer = await call(service, method, `${project}${path}`, {
    key: sample.key,
    ...(body === undefined ? {} : { body }),
  });
  return answer;
}

async function post(path: string, body?: object) {
  const { status, body: answer, text } = await send('POST', path, body);
  expect(status, text).toBeLessThan(300);
  return answer;
}

async function get(path: string) {
  const { status, body, text } = await send('GET', path);
  expect(status, text).toBe(200);
  return body;
}

async function ingest(n: number, at = occurredAt): Promise<string> {
  const { raw_event_id } = await post(`/extractor-rule-sets/${extractorId}/events/ingest`, {
    source: 'test',
    occurred_at: at,
    raw_json: { customer: 'c1', model: 'small', n },
  });
  await get(`/usage/events/${raw_event_id}?wait_seconds=10`);
  return raw_event_id;
}

async function ended(id: string, status: string) {
  let last: Record<string, unknown> = {};
  await waitFor(async () => {
    last = await get(`/usage/corrections/${id}`);
    return last.status === status || last.status === 'failed' || last.status === 'stale';
  });
  expect(last, JSON.stringify(last)).toMatchObject({ status });
  return last;
}

const wallet = async () => (await get(`/accounts/${accountId}/wallets`)).wallets[0];
const balance = async () => (await wallet()).balance;
const event = (id: string) => get(`/usage/events/${id}`);
const tokens = async () => {
  const { rows } = await post('/analysis/query', {
    metrics: ['llm.tokens'],
    bucket_size: 'none',
    time_range: { from: occurredAt - 3600, to: occurredAt + 3600 },
  });
  return rows;
};
const RANGE = { from: occurredAt - 3600, to: occurredAt + 3600 };

async function started(body: object): Promise<string> {
  const { id, status } = await post('/usage/corrections', body);
  expect(status).toBe('planning');
  return id;
}

async function expectVerified() {
  const { body, text } = await call(service, 'POST', '/admin/v1/verify', { key: service.serviceKey });
  expect(body, text).toMatchObject({
    status: 'equal',
    ledger: { difference_count: 0 },
    postings: { difference_count: 0 },
  });
}

describe('a correction of one event', () => {
  it('voids it, and gives it back', async () => {
    const id = await ingest(4);
    expect(await balance()).toBe('-2');
    const { correction_id } = await post(`/usage/events/${id}/void`, { reason: 'sent twice' });
    await ended(correction_id, 'applied');
    expect(await balance()).toBe('0');
    await waitFor(async () => (await event(id)).status === 'voided');
    const voided = await event(id);
    expect(voided).toMatchObject({ status: 'voided', revision: 2, charge_items: [] });
    expect(voided.revisions).toMatchObject([
      { revision: 1, status: 'processed', correction_id: null, actor: null, reason: null },
      { revision: 2, status: 'voided', correction_id, reason: 'sent twice' },
    ]);
    expect(await tokens()).toEqual([]);
    expect((await post(`/usage/events/${id}/void`, { reason: 'again' })).correction_id).toBe(correction_id);
    await post(`/usage/corrections/${correction_id}/revert`);
    await ended(correction_id, 'reverted');
    expect(await balance()).toBe('-2');
    await waitFor(async () => (await event(id)).revision === 3);
    expect(await event(id)).toMatchObject({
      status: 'processed',
      charge_items: [{ quantity: '4', amount: '2' }],
    });
    await expectVerified();
  });

  it('replaces its content, and fails without a change where the new content cannot be rated', async () => {
    const id = await ingest(10);
    const before = await balance();
    const raw_json = { customer: 'c1', model: 'small', n: 6 };
    const replace = (body: object) => post(`/usage/events/${id}/replace`, { reason: 'wrong count', ...body });
    const { correction_id } = await replace({ raw_json });
    expect(await ended(correction_id, 'applied')).toMatchObject({
      action: 'replace',
      events_changed: 1,
      totals: [
        { metric: 'llm.tokens', account_id: accountId, amount: { before: '5', after: '3', delta: '-2' } },
      ],
      applied: { events: 1 },
    });
    expect(await balance()).toBe(String(Number(before) + 2));
    expect((await replace({ raw_json })).correction_id).toBe(correction_id);
    await waitFor(async () => (await event(id)).revision === 2);
    const { revisions } = await event(id);
    expect(revisions[1]).toMatchObject({ raw_json, charge_items: [{ quantity: '6', amount: '3' }] });
    expect(revisions[0]).toMatchObject({
      raw_json: { ...raw_json, n: 10 },
      charge_items: [{ quantity: '10' }],
    });
    const failing = await replace({ raw_json: { customer: 'c1', model: 'small', n: 'many' } });
    await waitFor(async () => (await get(`/usage/corrections/${failing.correction_id}`)).status === 'failed');
    expect(await event(id)).toMatchObject({ revision: 2, charge_items: [{ quantity: '6' }] });
  });

  it('is refused for an event that does not exist, and without the permission', async () => {
    const unknown = `evt_${'0'.repeat(32)}`;
    expect(await send('POST', `/usage/events/${unknown}/void`, { reason: 'x' })).toMatchObject({
      status: 404,
    });
    expect(await send('POST', `/usage/events/${unknown}/void`, {})).toMatchObject({ status: 400 });
  });
});

describe('a correction of many events', () => {
  it('is planned, applied exactly as planned, and reverted', async () => {
    const ids = [await ingest(2), await ingest(3), await ingest(5)];
    const before = { balance: await balance(), tokens: await tokens() };
    const { id: plan } = {
      id: await started({ action: 'void', filter: RANGE, reason: 'all wrong', dry_run: true }),
    };
    const planned = await ended(plan, 'planned');
    expect(await balance()).toBe(before.balance);
    expect(planned.applied).toEqual({ events: 0, totals: [] });
    await post(`/usage/corrections/${plan}/apply`);
    const applied = await ended(plan, 'applied');
    expect((applied.applied as { totals: unknown }).totals).toEqual(planned.totals);
    expect(await balance()).toBe('0');
    await waitFor(async () => (await tokens()).length === 0);
    await post(`/usage/corrections/${plan}/revert`);
    await ended(plan, 'reverted');
    await waitFor(async () => (await tokens()).length > 0);
    expect({ balance: await balance(), tokens: await tokens() }).toEqual(before);
    expect(ids).toHaveLength(3);
    await expectVerified();
  });

  it('rates events again by rules that were corrected', async () => {
    await ended(await started({ action: 'void', filter: RANGE, reason: 'clean' }), 'applied');
    const id = await ingest(8);
    const dearer = EXTRACTOR.charge_item_extractors.map((item) => ({
      ...item,
      unit_price_expr: 'dec("0.25")',
    }));
    const changed = await send('PUT', `/extractor-rule-sets/${extractorId}`, {
      ...EXTRACTOR,
      charge_item_extractors: dearer,
      effective_from: occurredAt - 60,
    });
    expect(changed.status, changed.text).toBe(200);
    await post(`/extractor-rule-sets/${extractorId}/publish`);
    const correction = await ended(
      await started({
        action: 'rerate',
        filter: { ...RANGE, metric: 'llm.tokens' },
        reason: 'price was wrong',
      }),
      'applied',
    );
    expect(correction).toMatchObject({ events_matched: 1, events_changed: 1 });
    expect(await balance()).toBe('-2');
    await waitFor(async () => (await event(id)).revision === 2);
    const again = await ended(await started({ action: 'rerate', filter: RANGE, reason: 'again' }), 'applied');
    expect(again).toMatchObject({ events_matched: 1, events_changed: 0 });
    await expectVerified();
  });

  it('is stale if an event was changed after the plan', async () => {
    const id = await ingest(1);
    const plan = await started({ action: 'void', filter: RANGE, reason: 'x', dry_run: true });
    await ended(plan, 'planned');
    const { correction_id } = await post(`/usage/events/${id}/void`, { reason: 'first' });
    await ended(correction_id, 'applied');
    await post(`/usage/corrections/${plan}/apply`);
    await waitFor(async () => (await get(`/usage/corrections/${plan}`)).status === 'stale');
    expect(await get(`/usage/corrections/${plan}`)).toMatchObject({
      failure: { code: 'correction_stale' },
      applied: { events: 0 },
    });
  });

  it('cannot be reverted before a later one that changed the same event', async () => {
    const id = await ingest(7);
    const raw_json = { customer: 'c1', model: 'small', n: 1 };
    const first = await post(`/usage/events/${id}/replace`, { raw_json, reason: 'first' });
    await ended(first.correction_id, 'applied');
    await waitFor(async () => (await event(id)).revision === 2);
    const second = await post(`/usage/events/${id}/void`, { reason: 'second' });
    await ended(second.correction_id, 'applied');
    const refused = await send('POST', `/usage/corrections/${first.correction_id}/revert`);
    expect(refused.body).toMatchObject({ code: 'correction_superseded' });
    await post(`/usage/corrections/${second.correction_id}/revert`);
    await ended(second.correction_id, 'reverted');
    await post(`/usage/corrections/${first.correction_id}/revert`);
    await ended(first.correction_id, 'reverted');
    await waitFor(async () => (await event(id)).revision === 5);
    expect(await event(id)).toMatchObject({ charge_items: [{ quantity: '7' }] });
    await expectVerified();
  });

  it('applies a backtest, and refuses one whose events have changed', async () => {
    await ended(await started({ action: 'void', filter: RANGE, reason: 'clean' }), 'applied');
    await ingest(4);
    await waitFor(async () => (await tokens()).length === 1);
    const items = EXTRACTOR.charge_item_extractors.map((item) => ({ ...item, unit_price_expr: 'dec("1")' }));
    const backtest = await post('/rules/backtest', {
      extractor_rule_set_id: extractorId,
      extractor: { ...EXTRACTOR, charge_item_extractors: items },
      time_range: RANGE,
    });
    expect(backtest).toMatchObject({ status: 'succeeded' });
    const correction = await ended(
      await started({ action: 'rerate', backtest_id: backtest.id, reason: 'as tested' }),
      'applied',
    );
    expect(correction).toMatchObject({ backtest_id: backtest.id, events_changed: 1 });
    await ingest(4);
    await waitFor(async () => (await tokens())[0].quantity === '8');
    const refused = await send('POST', '/usage/corrections', {
      action: 'rerate',
      backtest_id: backtest.id,
      reason: 'x',
    });
    expect(refused.body).toMatchObject({ code: 'backtest_stale' });
  });
});
