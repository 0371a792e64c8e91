import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectClickHouse } from '../../platform/clickhouse/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import { insertUsageRows, stored, type TestClickHouse, usageItem, usageRow } from '../../testing/index.js';
import { openAnalysisApi } from './analysis-api.testing.js';
import { registerAnalysisRoutes } from './index.js';
import { namesOf } from './known-names.testing.js';

const FROM_S = 1_750_000_000;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1/default';

let api: TestApi;
let store: TestClickHouse;
let close: () => Promise<void>;
let queryUrl: string;
let metricsUrl: string;

beforeAll(async () => {
  ({ api, store, close } = await openAnalysisApi());
  queryUrl = `/v1/projects/${api.projectId}/analysis/query`;
  metricsUrl = `/v1/projects/${api.projectId}/usage/metrics`;
  const { tenantId, projectId } = api;
  const row = (fields: Parameters<typeof usageRow>[0]) => usageRow({ tenantId, projectId, ...fields });
  await insertUsageRows(store.clickhouse, [
    row({ occurredAt: FROM_S, subjectType: 'user', dimensions: new Map([['model', 'large']]) }),
    row({ occurredAt: FROM_S + 59, subjectType: 'team', dimensions: new Map([['model', '=1+1']]) }),
    row({
      occurredAt: FROM_S + 3_600,
      dimensions: new Map([['__proto__', 'x']]),
      items: [
        usageItem(),
        usageItem({ metric: 'llm.calls', unit: '', currency: '', quantity: stored('1'), amount: 0n }),
      ],
    }),
    row({
      occurredAt: FROM_S - 3_600,
      items: [usageItem({ currency: 'EUR' })],
      dimensions: new Map([['long', 'x'.repeat(300)]]),
    }),
  ]);
});

afterAll(() => close());

const query = {
  metrics: ['llm.tokens'],
  time_range: { from: FROM_S, to: FROM_S + 7_200 },
  bucket_size: '1h',
  group_by: ['model'],
};

describe('POST …/analysis/query', () => {
  it('returns rows by bucket, metric, unit, currency and group', async () => {
    const answer = await api.call('POST', queryUrl, query);
    expect(answer.status).toBe(200);
    const first = FROM_S - (FROM_S % 3_600);
    const sums = {
      metric: 'llm.tokens',
      unit: 'token',
      currency: 'USD',
      item_count: 1,
      quantity: '10',
      amount: '0.01',
    };
    expect(answer.json()).toEqual({
      bucket_size: '1h',
      timezone: 'UTC',
      from: FROM_S,
      to: FROM_S + 7_200,
      measures: ['item_count', 'quantity', 'amount'],
      split_by: ['metric'],
      group_by: ['bucket', 'model'],
      rows: [
        { ...sums, bucket: first, group: { model: '=1+1' } },
        { ...sums, bucket: first, group: { model: 'large' } },
        { ...sums, bucket: first + 3_600, group: { model: null } },
      ],
      truncated: false,
      warnings: [],
    });
  });

  it('adds up all metrics of a currency where they are not to be split', async () => {
    const { metrics: _, ...asked } = query;
    const { json } = await api.call('POST', queryUrl, {
      ...asked,
      split_by: [],
      bucket_size: 'none',
      group_by: [],
    });
    const sums = { bucket: null, metric: null, unit: null, group: {} };
    expect(json()).toMatchObject({
      split_by: [],
      measures: ['item_count', 'amount'],
      rows: [
        { ...sums, currency: null, item_count: 1, amount: '0' },
        { ...sums, currency: 'USD', item_count: 3, amount: '0.03' },
      ],
    });
  });

  it('returns only the requested measures, and null where an item has no unit or currency', async () => {
    const answer = await api.call('POST', queryUrl, {
      ...query,
      metrics: ['llm.calls'],
      measures: ['quantity'],
      bucket_size: 'none',
      group_by: [],
    });
    expect(answer.json().rows).toEqual([
      { bucket: null, metric: 'llm.calls', unit: null, currency: null, group: {}, quantity: '1' },
    ]);
  });

  it('takes a dimension named __proto__ for any other', async () => {
    const body = JSON.stringify({ ...query, bucket_size: 'none', group_by: ['__proto__'] });
    const filtered = body.replace('"metrics"', '"filters":{"__proto__":{"exists":true}},"metrics"');
    const answer = await api.call('POST', queryUrl, filtered);
    expect(answer.text).toContain('"group":{"__proto__":"x"}');
    expect(answer.json().rows).toHaveLength(1);
  });

  it('counts last_seconds back from now', async () => {
    const asked = { metrics: ['llm.tokens'], time_range: { last_seconds: 60 } };
    const last = await api.call('POST', queryUrl, asked);
    const now = Math.floor(api.clock.nowMs() / 1000);
    expect(last.json()).toMatchObject({ from: now - 59, to: now + 1, bucket_size: '1m', rows: [] });
  });

  it('returns CSV on request', async () => {
    const response = await api.app.inject({
      method: 'POST',
      url: queryUrl,
      headers: { authorization: `Bearer ${api.serviceKey}`, accept: 'text/csv' },
      payload: query,
    });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(response.headers['x-truncated']).toBe('false');
    const [header, first] = response.body.split('\r\n');
    expect(header).toBe('bucket,metric,unit,currency,group.model,item_count,quantity,amount');
    expect(first).toMatch(/^\d+,llm\.tokens,token,USD,'=1\+1,1,10,0\.01$/);
  });

  it.each([
    ['metrics', { metrics: [] }],
    ['metrics', { metrics: Array.from({ length: 33 }, (_, i) => `m${i}`) }],
    ['split_by', { split_by: ['metric', 'metric'] }],
    ['split_by[0]', { split_by: ['currency'] }],
    ['measures', { measures: [] }],
    ['measures[0]', { measures: ['sum'] }],
    ['time_range.from', { time_range: { from: -1, to: 5 } }],
    ['time_range.to', { time_range: { from: 5, to: 5 } }],
    ['timezone', { timezone: 'Local' }],
    ['bucket_size', { bucket_size: '5 minutes' }],
    ['group_by', { group_by: ['a', 'b', 'c', 'd', 'e'] }],
    ['filters.model.in', { filters: { model: { in: [] } } }],
    ['filters.model', { filters: { model: {} } }],
    ['filters["line\\nbreak"]', { filters: { 'line\nbreak': null } }],
    ['filters["line\\nbreak"].in[0]', { filters: { 'line\nbreak': { in: [1] } } }],
    ['filters["line\\nbreak"].equals', { filters: { 'line\nbreak': { equals: 'x' } } }],
    ['limit', { limit: 50_001 }],
    ['unknown', { unknown: 1 }],
  ])('refuses a wrong %s by name', async (path, fields) => {
    const answer = await api.call('POST', queryUrl, { ...query, ...fields });
    expect(answer.status).toBe(400);
    expect(answer.json().code).toBe('invalid_request');
    expect(answer.json().details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(answer.json().error).toContain(path);
  });

  it('refuses a body that is too large', async () => {
    const values = Array.from({ length: 200 }, () => 'x'.repeat(400));
    const answer = await api.call('POST', queryUrl, { ...query, filters: { model: { in: values } } });
    expect(answer.status).toBe(413);
  });
});

describe('GET …/usage/metrics', () => {
  it('lists the metrics in use with what they can be split by', async () => {
    const answer = await api.call('GET', metricsUrl);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      metrics: [
        {
          metric: 'llm.calls',
          unit: null,
          currencies: [],
          dimensions: [{ name: '__proto__', cardinality: 1, sample_values: ['x'] }],
          subject_types: [],
          unpriced_item_count: 1,
          first_seen_at: FROM_S + 3_600,
          last_seen_at: FROM_S + 3_600,
        },
        {
          metric: 'llm.tokens',
          unit: 'token',
          currencies: ['EUR', 'USD'],
          dimensions: [
            { name: '__proto__', cardinality: 1, sample_values: ['x'] },
            { name: 'long', cardinality: 1, sample_values: [] },
            { name: 'model', cardinality: 2, sample_values: ['=1+1', 'large'] },
          ],
          subject_types: ['team', 'user'],
          unpriced_item_count: 0,
          first_seen_at: FROM_S - 3_600,
          last_seen_at: FROM_S + 3_600,
        },
      ],
    });
  });

  it('counts values nearly, and finds those of dimensions that the rollup goes without', async () => {
    const { tenantId } = api;
    const projectId = await api.makeProject(tenantId);
    const users = Array.from({ length: 5_000 }, (_, n) => `user-${n}`);
    const of = (user: string) =>
      usageRow({ tenantId, projectId, dimensions: new Map([['user', user]]), occurredAt: FROM_S });
    await insertUsageRows(store.clickhouse, users.map(of));
    // The same dimension from a moment on, and another one, excluded from the rollup.
    await store.clickhouse.command(
      `INSERT INTO usage_events (tenant_id, project_id, raw_event_id, occurred_at, status, posting, lease_status, dimensions,
         raw_only, \`item.metric\`, \`item.unit\`, \`item.quantity\`, \`item.amount\`)
       SELECT {tenant:String}, {project:String}, toFixedString(leftPad(toString(number), 16, '0'), 16),
         toDateTime({at:UInt32}, 'UTC'), 'processed', 'unpriced', 'none',
         map('user', concat('late-', toString(number)), 'request', toString(number % 7), 'model', 'large'),
         ['request', 'user'], ['llm.tokens'], ['token'], [1], [0] FROM numbers(1000)`,
      { tenant: tenantId, project: projectId, at: FROM_S + 60 },
    );
    const answer = await api.call('GET', `/v1/projects/${projectId}/usage/metrics`);
    const [{ dimensions }] = answer.json().metrics;
    expect(dimensions.map(({ name }: { name: string }) => name)).toEqual(['model', 'request', 'user']);
    const [model, request, user] = dimensions;
    expect(model).toEqual({ name: 'model', cardinality: 1, sample_values: ['large'] });
    expect(request).toEqual({
      name: 'request',
      cardinality: 7,
      sample_values: ['0', '1', '2', '3', '4', '5', '6'],
    });
    expect(Math.abs(user.cardinality - 6_000)).toBeLessThan(120);
    expect(user.sample_values).toHaveLength(20);
  });

  it('is empty for a project without usage', async () => {
    const other = await api.makeProject(api.tenantId);
    const answer = await api.call('GET', `/v1/projects/${other}/usage/metrics`);
    expect(answer.json()).toEqual({ metrics: [] });
  });
});

describe('access', () => {
  it.each(['query', 'metrics'])('needs analytics:read for %s, and the own tenant', async (what) => {
    const call = (key: string, projectId: string) =>
      what === 'query'
        ? api.call('POST', `/v1/projects/${projectId}/analysis/query`, query, key)
        : api.call('GET', `/v1/projects/${projectId}/usage/metrics`, undefined, key);
    const reader = await api.makeKey(api.tenantId, ['analytics:read']);
    expect((await call(reader, api.projectId)).status).toBe(200);
    const other = await api.makeKey(api.tenantId, ['usage:read']);
    expect((await call(other, api.projectId)).status).toBe(403);
    const foreignTenant = await api.makeTenant();
    const foreigner = await api.makeKey(foreignTenant, ['analytics:read']);
    expect((await call(foreigner, api.projectId)).status).toBe(404);
  });

  it('returns 503 while ClickHouse is away', async () => {
    const clickhouse = connectClickHouse({ url: NOWHERE });
    const away = await createTestApi((app, { clock }) =>
      registerAnalysisRoutes(app, { clickhouse, history: everythingKept, clock, names: namesOf(clickhouse) }),
    );
    try {
      const answer = await away.call('POST', `/v1/projects/${away.projectId}/analysis/query`, query);
      expect(answer.status).toBe(503);
      expect(answer.json().code).toBe('store_unavailable');
      expect(answer.headers['retry-after']).toBe('1');
    } finally {
      await away.close();
      await clickhouse.close();
    }
  });
});
