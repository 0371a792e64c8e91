import { ANALYSIS_GROUP_BY_MAX, type AnalysisQuery, DIMENSION_VALUE_CHARS_MAX } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi } from '../../testing/api.js';
import { insertUsageRows, type TestClickHouse, usageItem, usageRow } from '../../testing/index.js';
import { openAnalysisApi } from './analysis-api.testing.js';

const FROM_S = 1_750_000_000;
const DAY_S = 86_400;
/** Long dimensions are used apart from all else. */
const LONG_S = FROM_S - DAY_S;
const FOREIGN = 'of-another-tenant';
const COLUMNS = [
  'tenant_id',
  'project_id',
  'metric',
  'bucket_start',
  'moment',
  'value_0',
  'is_other',
  'amount',
];
const HOSTILE = [
  "' OR '1'='1",
  "') OR 1 = 1 --",
  '{tenant:String}',
  '{metrics1:Array(String)}',
  '`tenant_id`',
  'dimensions',
  "'; DROP TABLE usage_events; --",
  "\\' UNION ALL SELECT * FROM usage_events --",
  '\\',
  '\u2028',
  '%00',
  '*',
  FOREIGN,
  ...COLUMNS,
];

let api: TestApi;
let store: TestClickHouse;
let close: () => Promise<void>;
let url: string;

beforeAll(async () => {
  ({ api, store, close } = await openAnalysisApi());
  url = `/v1/projects/${api.projectId}/analysis/query`;
  const { tenantId, projectId } = api;
  const own = COLUMNS.map((name) =>
    usageRow({ tenantId, projectId, occurredAt: FROM_S, dimensions: new Map([[name, 'own']]) }),
  );
  const foreign = HOSTILE.map((name) =>
    usageRow({
      tenantId: 'ten_foreign',
      projectId: 'prj_foreign',
      occurredAt: FROM_S,
      subjectType: 'user',
      subjectId: FOREIGN,
      dimensions: new Map([[name, FOREIGN]]),
      items: [usageItem({ currency: 'FOREIGN' }), usageItem({ metric: FOREIGN, currency: 'FOREIGN' })],
    }),
  );
  await insertUsageRows(store.clickhouse, [...own, ...foreign]);
});

afterAll(() => close());

const query = (over: Partial<AnalysisQuery> = {}): AnalysisQuery => ({
  metrics: ['llm.tokens'],
  time_range: { from: FROM_S, to: FROM_S + 3_600 },
  ...over,
});

describe('a hostile analysis query', () => {
  it('of unknown names finds nothing, and is warned of them, those of other tenants too', async () => {
    const unknown = ['unknown', FOREIGN];
    const asked = query({
      metrics: [...unknown, 'llm.tokens'],
      group_by: ['amount', FOREIGN],
      bucket_size: 'none',
    });
    const { status, json } = await api.call('POST', url, asked);
    expect(status).toBe(200);
    expect(JSON.stringify(json().rows)).not.toContain('FOREIGN');
    expect(json().warnings).toEqual([
      ...unknown.map((name) => ({ code: 'unknown_metric', name, message: expect.stringContaining(name) })),
      { code: 'unknown_dimension', name: FOREIGN, message: expect.stringContaining(FOREIGN) },
    ]);
    const nothing = await api.call('POST', url, query({ metrics: unknown }));
    expect(nothing.json().rows).toEqual([]);
  });

  it.each(COLUMNS)('reads %s as a dimension, not as a column', async (name) => {
    const asked = query({ bucket_size: 'none', group_by: [name], measures: ['item_count'] });
    const { status, json } = await api.call('POST', url, asked);
    expect(status).toBe(200);
    const counts = json().rows.map((row: { group: object; item_count: number }) => [
      row.group,
      row.item_count,
    ]);
    expect(counts).toEqual([
      [{ [name]: 'own' }, 1],
      [{ [name]: null }, COLUMNS.length - 1],
    ]);
  });

  it('whose result would be longer than 64 MiB is refused, and one a little shorter returned', async () => {
    const { tenantId, projectId } = api;
    const names = Array.from({ length: ANALYSIS_GROUP_BY_MAX }, (_, index) => `long_${index}`);
    const rows = Array.from({ length: 4_400 }, (_, index) => {
      const value = `${index} `.padEnd(DIMENSION_VALUE_CHARS_MAX, 'x');
      const dimensions = new Map(names.map((name) => [name, value]));
      return usageRow({ tenantId, projectId, occurredAt: LONG_S, dimensions });
    });
    await insertUsageRows(store.clickhouse, rows);
    const long = { time_range: { from: LONG_S, to: LONG_S + 60 }, bucket_size: 'none' } as const;
    const refused = await api.call('POST', url, query({ ...long, group_by: names }));
    expect([refused.status, refused.json().code]).toEqual([503, 'store_unavailable']);
    const { status, json } = await api.call('POST', url, query({ ...long, group_by: names.slice(1) }));
    expect([status, json().rows.length]).toEqual([200, rows.length]);
  });

  it('over ten years by the minute gets larger buckets', async () => {
    const range = { from: FROM_S - 3_650 * DAY_S, to: FROM_S + 1 };
    const { status, json } = await api.call('POST', url, query({ time_range: range, bucket_size: '1m' }));
    expect(status).toBe(200);
    expect(json()).toMatchObject({ bucket_size: '7d', truncated: false });
    expect(json().rows).toHaveLength(1);
  });

  it('with code in every text is refused clearly, or finds nothing that is not its own', async () => {
    const answers = { 200: 0, 400: 0 };
    await fc.assert(
      fc.asyncProperty(hostileArbitrary, async (body) => {
        const { status, text, json } = await api.call('POST', url, body);
        expect([200, 400]).toContain(status);
        if (status === 400) expect(json()).toMatchObject({ code: 'invalid_request', details: [{}] });
        else expect(JSON.stringify(json().rows)).not.toMatch(/FOREIGN|of-another-tenant"[^:]/);
        answers[status as 200 | 400]++;
        expect(text).not.toMatch(/DB::Exception|usage_rollup/);
      }),
      { numRuns: 80, seed: 3 },
    );
    expect(answers[200]).toBeGreaterThan(20);
    expect(answers[400]).toBeGreaterThan(5);
    const { json } = await api.call('POST', url, query({ bucket_size: 'none', measures: ['item_count'] }));
    expect(json().rows).toMatchObject([{ item_count: COLUMNS.length }]);
  });
});

const hostileText = fc.constantFrom(...HOSTILE);
const filterArbitrary = fc.oneof(
  fc.record({ in: fc.array(hostileText, { minLength: 1, maxLength: 3 }) }),
  fc.record({ not_in: fc.array(hostileText, { minLength: 1, maxLength: 3 }) }),
  fc.record({ exists: fc.boolean() }),
);
const hostileArbitrary = fc.record(
  {
    metrics: fc.array(fc.oneof(fc.constant('llm.tokens'), hostileText), { minLength: 1, maxLength: 3 }),
    time_range: fc.constantFrom({ from: FROM_S, to: FROM_S + 3_600 }, { from: FROM_S - 7, to: FROM_S + 1 }),
    group_by: fc.array(hostileText, { maxLength: 4 }),
    filters: fc.dictionary(hostileText, filterArbitrary, { maxKeys: 3, noNullPrototype: true }),
    subject_type: hostileText,
    subject_id: hostileText,
    limit: fc.integer({ min: 1, max: 3 }),
    timezone: fc.oneof({ weight: 9, arbitrary: fc.constant('UTC') }, { weight: 1, arbitrary: hostileText }),
    bucket_size: fc.oneof({ weight: 9, arbitrary: fc.constant('1h') }, { weight: 1, arbitrary: hostileText }),
  },
  { requiredKeys: ['metrics', 'time_range'] },
);
