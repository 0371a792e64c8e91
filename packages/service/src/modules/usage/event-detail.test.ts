import { EVENT_WAITS_PER_KEY_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi } from '../../testing/api.js';
import {
  failedRow,
  idOf,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { type EventsFixture, NOTE, openEventsFixture, RAW_JSON, textOf } from './events.testing.js';
import type { UsageEventRow } from './row.js';

let fixture: EventsFixture;
let api: TestApi;
let store: TestClickHouse;
let url: string;
let rows: EventsFixture['rows'];

beforeAll(async () => {
  fixture = await openEventsFixture();
  ({ api, store, url, rows } = fixture);
});

afterAll(() => fixture.close());

describe('GET …/usage/events/:raw_event_id', () => {
  it('shows what was sent, digit for digit', async () => {
    const answer = await api.call('GET', `${url}/${textOf(rows.rich)}`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.text).toContain(`"raw_json":${RAW_JSON},"metadata":{"note":0.10},"x-billing":{"items":[]}`);
    expect(answer.json()).toMatchObject({ raw_event_id: textOf(rows.rich), status: 'processed' });
  });

  it('says whether the event named its subject itself', async () => {
    const { tenantId, projectId } = api;
    const own = usageRow({ tenantId, projectId, subjectIsSent: true });
    await insertUsageRows(store.clickhouse, [own]);
    const isSent = async (row: UsageEventRow) =>
      (await api.call('GET', `${url}/${textOf(row)}`)).json().subject_is_sent;
    expect([await isSent(own), await isSent(rows.plain)]).toEqual([true, false]);
  });

  it('shows what was noted when the event was rated', async () => {
    expect((await api.call('GET', `${url}/${textOf(rows.rich)}`)).json().notes).toEqual([NOTE]);
    expect((await api.call('GET', `${url}/${textOf(rows.plain)}`)).json().notes).toEqual([]);
  });

  it('explains each number', async () => {
    const { explanation } = (await api.call('GET', `${url}/${textOf(rows.plain)}`)).json();
    expect(explanation.extractor).toEqual({ rule_set_id: 'ers_1', version: 1, name: 'ers_1 version 1' });
    expect(explanation.charge_items).toMatchObject([
      { quantity: { value: '10', path: 'usage.in' }, unit_price: { value: '0.001', expression: 'dec("1")' } },
    ]);
  });

  it('explains the price by a pricing rule set, and the discount', async () => {
    const row = usageRow({
      tenantId: api.tenantId,
      projectId: api.projectId,
      xBilling: '{"discount_hints": {"llm.calls": {"amount": 1.50}}}',
      items: [
        usageItem({
          metric: 'llm.calls',
          discount: stored('0.25'),
          pricingSource: 'pricing_rule_set',
          ruleSetId: 'prs_1',
          ruleSetVersion: 3,
          ruleName: 'llm.calls',
        }),
      ],
    });
    await insertUsageRows(store.clickhouse, [row]);
    const detail = (await api.call('GET', `${url}/${textOf(row)}`)).json();
    expect(detail.charge_items).toMatchObject([{ amount: '0.01', discount: '0.25' }]);
    expect(detail.explanation.charge_items).toMatchObject([
      {
        amount: { value: '0.01', before_discount: '0.26' },
        discount: { value: '0.25', percent: null, amount: '1.5' },
        priced_by: { rule_set_id: 'prs_1', match_expr: 'dimensions.rules == "prs_1 3"', priority: 0 },
      },
    ]);
  });

  it('asks why there is no price only where there is none', async () => {
    const unpricedOf = async (row: UsageEventRow) =>
      (await api.call('GET', `${url}/${textOf(row)}`)).json().unpriced;
    const found = [
      { metric: 'llm.tokens', quantity: idOf(rows.rich), nearest_rules: [], priced_metrics: [] },
    ];
    expect(await unpricedOf(rows.rich)).toEqual(found);
    expect(await unpricedOf(rows.plain)).toEqual([]);
    expect(await unpricedOf(rows.failed)).toEqual([]);
    const of = { tenantId: api.tenantId, projectId: api.projectId };
    const refused = failedRow({ ...of, failureCode: 'unpriced' });
    await insertUsageRows(store.clickhouse, [refused]);
    expect(await unpricedOf(refused)).toMatchObject([{ metric: 'llm.tokens' }]);
  });

  it('has null where nothing was sent, and the last attempt of a reprocessed event', async () => {
    const answer = await api.call('GET', `${url}/${textOf(rows.mended)}`);
    expect(answer.json()).toMatchObject({
      status: 'processed',
      raw_json: {},
      metadata: null,
      'x-billing': null,
    });
  });

  it('shows a failed event', async () => {
    const answer = await api.call('GET', `${url}/${textOf(rows.failed)}`);
    expect(answer.json()).toMatchObject({
      status: 'failed',
      explanation: { extractor: { version: null, name: null } },
    });
  });

  it('returns the same 404 for a malformed, absent or foreign id', async () => {
    const foreignRow = usageRow({ tenantId: 'ten_other', projectId: 'prj_other' });
    await insertUsageRows(store.clickhouse, [foreignRow]);
    const ids = [
      'nonsense',
      'evt_1',
      `evt_${'0'.repeat(32)}`,
      textOf(rows.plain).toUpperCase(),
      textOf(foreignRow),
      "evt_'",
    ];
    const answers = await Promise.all(ids.map((id) => api.call('GET', `${url}/${encodeURIComponent(id)}`)));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 404));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('needs usage:read, and the own tenant', async () => {
    const eventUrl = `${url}/${textOf(rows.plain)}`;
    const reader = await api.makeKey(api.tenantId, ['usage:read']);
    expect((await api.call('GET', eventUrl, undefined, reader)).status).toBe(200);
    const other = await api.makeKey(api.tenantId, ['analytics:read']);
    for (const target of [url, eventUrl]) {
      expect((await api.call('GET', target, undefined, other)).status).toBe(403);
    }
    const foreigner = await api.makeKey(await api.makeTenant(), ['usage:read']);
    expect((await api.call('GET', url, undefined, foreigner)).status).toBe(404);
  });

  it('waits for an event that is not rated yet', async () => {
    const row = usageRow({ tenantId: api.tenantId, projectId: api.projectId });
    const waiting = api.call('GET', `${url}/${textOf(row)}?wait_seconds=10`);
    expect((await api.call('GET', `${url}/${textOf(row)}`)).status).toBe(404);
    await insertUsageRows(store.clickhouse, [row]);
    expect((await waiting).json()).toMatchObject({ raw_event_id: textOf(row), status: 'processed' });
  });

  it('waits for a bounded time, in a bounded number of requests of a key', async () => {
    const absent = `${url}/${textOf(usageRow({ tenantId: api.tenantId, projectId: api.projectId }))}`;
    const answers = await Promise.all(
      Array.from({ length: EVENT_WAITS_PER_KEY_MAX + 1 }, () => api.call('GET', `${absent}?wait_seconds=1`)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(EVENT_WAITS_PER_KEY_MAX).fill(404), 429]);
    expect((await api.call('GET', `${absent}?wait_seconds=0`)).status).toBe(404);
    for (const wrong of ['11', '-1', '1.5', 'soon']) {
      const answer = await api.call('GET', `${absent}?wait_seconds=${wrong}`);
      expect([answer.status, answer.json().details[0].path]).toEqual([400, 'wait_seconds']);
    }
  });

  it('reads nothing to a key that was revoked while it waited', async () => {
    const row = usageRow({ tenantId: api.tenantId, projectId: api.projectId });
    const key = await api.makeKey(api.tenantId, ['usage:read']);
    const wait = () => api.call('GET', `${url}/${textOf(row)}?wait_seconds=10`, undefined, key);
    const waiting = Array.from({ length: EVENT_WAITS_PER_KEY_MAX }, wait);
    // One more is refused once all of them wait.
    expect(await Promise.race([wait(), ...waiting])).toMatchObject({ status: 429 });
    const { key_id: keyId } = (await api.call('GET', '/v1/me', undefined, key)).json();
    const revoked = `/admin/v1/tenants/${api.tenantId}/api-keys/${keyId}`;
    expect((await api.call('DELETE', revoked)).status).toBe(204);
    await insertUsageRows(store.clickhouse, [row]);
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual(waiting.map(() => 401));
  });
});

it('responds to a request that waits for an event when the service ends', async () => {
  const ending = await openEventsFixture();
  const absent = usageRow({ tenantId: ending.api.tenantId, projectId: ending.api.projectId });
  const waiting = ending.api.call('GET', `${ending.url}/${textOf(absent)}?wait_seconds=10`);
  await ending.api.app.close();
  expect((await waiting).json()).toMatchObject({ code: 'shutting_down' });
  await ending.close();
});
