import {
  BATCH_BODY_BYTES_MAX,
  BATCH_EVENTS_MAX,
  JSON_VALUES_MAX,
  SINGLE_BODY_BYTES_MAX,
} from '@tollgate/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../testing/api.js';
import { createTestIngest, type TestIngest } from '../../testing/ingest-api.js';
import { createRuleSets, PUBLISHED_FRESH_MS } from '../rules/index.js';

let api: TestIngest;
let draftId: string;
let archivedId: string;
let foreignId: string;

beforeAll(async () => {
  api = await createTestIngest();
  draftId = await api.makeRuleSet(api.projectId);
  archivedId = await api.makeRuleSet(api.projectId, 'publish', 'archive');
  foreignId = await api.makeRuleSet(await api.makeProject(api.tenantId), 'publish');
});
afterEach(() => api.postgres.pool.query('delete from segments'));
afterAll(() => api.close());

async function expectNothingQueued(): Promise<void> {
  expect(await api.takeQueued()).toEqual([]);
}

describe('single ingest', () => {
  it('returns 202 with the id, and has queued the bytes as they came', async () => {
    const body = `{ "source":"s",\n"occurred_at": ${TEST_NOW_S}, "raw_json": {"n": 0.1000000000000000000001} }`;
    const accepted = await api.sendSingle(body);
    expect(accepted.status).toBe(202);
    expect(accepted.headers['content-type']).toBe('application/json; charset=utf-8');
    const { raw_event_id: id } = accepted.json();
    expect(accepted.json()).toEqual({
      raw_event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      status: 'received',
    });
    const [record] = await api.takeQueued();
    expect(record).toMatchObject({
      scope: {
        kind: 'single',
        tenantId: api.tenantId,
        projectId: api.projectId,
        extractorRuleSetId: api.ruleSetId,
      },
      receivedAtMs: api.clock.nowMs(),
      eventCount: 1,
    });
    expect(record?.body.toString()).toBe(body);
    expect(`evt_${record?.ids.toString('hex')}`).toBe(id);
  });

  it('gives the same event the same id, and an event without a key a new one each time', async () => {
    const idOf = async (more: object) =>
      (await api.sendSingle({ ...api.event, ...more })).json().raw_event_id;
    const id = await idOf({});
    expect(await idOf({ raw_json: {}, source: 'other' })).toBe(id);
    expect(await idOf({ occurred_at: TEST_NOW_S + 1 })).not.toBe(id);
    const batch = await api.sendBatch({ events: [api.item()] });
    expect(batch.json().raw_event_ids).toEqual([id]);
    const { idempotency_key: _key, ...keyless } = api.event;
    const ids = await Promise.all([api.sendSingle(keyless), api.sendSingle(keyless)]);
    expect(new Set(ids.map((each) => each.json().raw_event_id)).size).toBe(2);
  });

  it('takes everything that the interface has', async () => {
    const accepted = await api.sendSingle({
      ...api.event,
      external_event_id: '外'.repeat(255),
      subject_type: 'user',
      subject_id: '👩'.repeat(255),
      'x-billing': {
        items: [
          { metric: 'llm.tokens', quantity: '12.5', unit: 'token' },
          { metric: 'calls', quantity: 1 },
        ],
        pricing_hints: {
          'llm.tokens': { unit_price: 0.1, pricing_unit: '1000', currency: 'EUR', note: [1] },
        },
        discount_hints: { 'llm.tokens': { percent: 100 }, calls: { amount: '0' } },
      },
      'x-usage-control': { budget_lease_id: 'bl_1' },
      metadata: { region: 'eu', '\u0000': '\ud800' },
    });
    expect(accepted.status, accepted.text).toBe(202);
  });

  it.each([
    ['an unknown rule set', () => 'ers_none', 404, 'rule_set_not_found'],
    ["another project's rule set", () => foreignId, 404, 'rule_set_not_found'],
    ['a draft', () => draftId, 409, 'rule_set_not_published'],
    ['an archived rule set', () => archivedId, 409, 'rule_set_not_published'],
  ])('refuses %s', async (_, idOf, status, code) => {
    const refused = await api.sendSingle(api.event, idOf());
    expect([refused.status, refused.json().code]).toEqual([status, code]);
    await expectNothingQueued();
  });

  it('treats an absent and a foreign rule set alike', async () => {
    expect((await api.sendSingle(api.event, foreignId)).text).toBe(
      (await api.sendSingle(api.event, 'ers_none')).text,
    );
  });

  it('follows publish and archive at once', async () => {
    const id = await api.makeRuleSet(api.projectId);
    expect((await api.sendSingle(api.event, id)).status).toBe(409);
    await api.call('POST', `${api.ruleSetsUrl}/${id}/publish`);
    expect((await api.sendSingle(api.event, id)).status).toBe(202);
    await api.call('PUT', `${api.ruleSetsUrl}/${id}`, {});
    expect((await api.sendSingle(api.event, id)).status).toBe(202);
    await api.call('POST', `${api.ruleSetsUrl}/${id}/archive`);
    expect((await api.sendSingle(api.event, id)).status).toBe(409);
  });

  it('follows an archive on another node within a second', async () => {
    const id = await api.makeRuleSet(api.projectId, 'publish');
    expect((await api.sendSingle(api.event, id)).status).toBe(202);
    await createRuleSets(api).extractors.archive(
      {
        project: {
          tenantId: api.tenantId,
          projectId: api.projectId,
          projectNo: 1,
          kind: 'release',
          storage: 'shared',
        },
        principal: { kind: 'service' },
        requestId: 'other-node',
      },
      id,
    );
    api.clock.advanceMs(PUBLISHED_FRESH_MS);
    expect((await api.sendSingle(api.event, id)).status).toBe(409);
  });

  it('needs the permission, and a project that the key can see', async () => {
    const reader = await api.makeKey(api.tenantId, ['usage:read']);
    expect((await api.sendSingle(api.event, api.ruleSetId, reader)).status).toBe(403);
    const sender = await api.makeKey(api.tenantId, ['usage:ingest']);
    expect((await api.sendSingle(api.event, api.ruleSetId, sender)).status).toBe(202);
    const stranger = await api.makeKey(await api.makeTenant(), ['usage:ingest']);
    expect((await api.sendSingle(api.event, api.ruleSetId, stranger)).status).toBe(404);
    expect((await api.sendSingle(api.event, api.ruleSetId, 'nonsense')).status).toBe(401);
  });

  it('refuses a body past its size, a compressed one, and one that is no JSON', async () => {
    const large = JSON.stringify({ ...api.event, raw_json: { text: 'x'.repeat(SINGLE_BODY_BYTES_MAX) } });
    expect((await api.sendSingle(large)).status).toBe(413);
    expect((await api.sendSingle('{"source":')).status).toBe(400);
    const url = `${api.ruleSetsUrl}/${api.ruleSetId}/events/ingest`;
    const authorization = `Bearer ${api.serviceKey}`;
    const text = { authorization, 'content-type': 'text/plain' };
    expect((await api.app.inject({ method: 'POST', url, headers: text, payload: '{}' })).statusCode).toBe(
      415,
    );
  });
});

describe('batch ingest', () => {
  it('returns 202 with the ids in order, the same one for a repeated event', async () => {
    const events = [
      api.item({ idempotency_key: 'a' }),
      api.item({ idempotency_key: 'b' }),
      api.item({ idempotency_key: 'a' }),
    ];
    const accepted = await api.sendBatch({ events });
    expect(accepted.status).toBe(202);
    const { status, count, raw_event_ids: ids } = accepted.json();
    expect({ status, count }).toEqual({ status: 'received', count: 3 });
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
    const [record] = await api.takeQueued();
    expect(record).toMatchObject({ eventCount: 3, scope: { kind: 'batch', extractorRuleSetId: null } });
    expect(record?.ids.toString('hex')).toBe(ids.map((id: string) => id.slice(4)).join(''));
  });

  it('takes the source of the batch where an event has none', async () => {
    const sourceless = api.item({ source: undefined });
    expect((await api.sendBatch({ source: 'default', events: [sourceless, api.item()] })).status).toBe(202);
    const refused = await api.sendBatch({ events: [api.item(), sourceless] });
    expect(refused.status).toBe(400);
    expect(refused.json().error).toContain('events[1].source');
    expect((await api.takeQueued()).length).toBe(1);
  });

  it.each([
    ['unknown', () => 'ers_none', 'rule_set_not_found'],
    ["another project's", () => foreignId, 'rule_set_not_found'],
    ['draft', () => draftId, 'rule_set_not_published'],
    ['archived', () => archivedId, 'rule_set_not_published'],
  ])('refuses the whole batch for one item whose rule set is %s', async (_, idOf, code) => {
    const refused = await api.sendBatch({
      events: [api.item(), api.item({ extractor_rule_set_id: idOf() }), api.item()],
    });
    expect([refused.status, refused.json().code]).toEqual([400, code]);
    expect(refused.json().error).toContain('events[1]');
    const message =
      code === 'rule_set_not_found'
        ? 'expected a rule set of this project'
        : 'expected a published rule set; this one is a draft or archived';
    expect(refused.json().details).toEqual([{ path: 'events[1].extractor_rule_set_id', message }]);
    await expectNothingQueued();
  });

  it('lists a bounded number of findings, the first of which decides the code', async () => {
    const events = Array.from({ length: 50 }, () => api.item({ occurred_at: 0 }));
    events[3] = api.item({ subject_type: 'user' });
    const refused = await api.sendBatch({ events: events.slice(3) });
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({
      code: 'subject_pair_incomplete',
      error:
        'subject_type and subject_id must be sent together: ' +
        'events[0].subject_id: is required, because subject_type was sent.',
    });
    expect(refused.json().details).toHaveLength(20);
  });

  it.each([
    ['no events', { source: 's', events: [] }],
    ['events that are no list', { source: 's', events: {} }],
    ['no list of events', { source: 's' }],
    ['an unknown field', { events: [], mode: 'fast' }],
  ])('refuses %s', async (_, body) => {
    expect((await api.sendBatch(body)).status).toBe(400);
  });

  it('refuses more events or bytes than a batch may have', async () => {
    const many = `{"events":[${Array(BATCH_EVENTS_MAX + 1)
      .fill('{}')
      .join(',')}]}`;
    expect((await api.sendBatch(many)).status).toBe(400);
    expect((await api.sendBatch(`{"source":"${'x'.repeat(BATCH_BODY_BYTES_MAX)}"}`)).status).toBe(413);
    const brackets = await api.sendBatch(`{"source":"s","events":[${'[],'.repeat(JSON_VALUES_MAX)}[]]}`);
    expect([brackets.status, brackets.json().code]).toEqual([400, 'json_too_complex']);
    const most = Array.from({ length: BATCH_EVENTS_MAX }, () => api.item());
    expect((await api.sendBatch({ events: most })).status).toBe(202);
  });
});
