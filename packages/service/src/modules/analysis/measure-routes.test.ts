import { MEASURES as EVERY_MEASURE } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestApi } from '../../testing/api.js';
import { insertUsageRows, stored, type TestClickHouse, usageItem, usageRow } from '../../testing/index.js';
import { openAnalysisApi } from './analysis-api.testing.js';
import { normalizeQuery } from './normalize.js';
import { planQuery } from './service.js';

const HOUR_S = 3_600;
/** The start of an hour. */
const FROM_S = 1_750_000_000 - (1_750_000_000 % HOUR_S);

let api: TestApi;
let store: TestClickHouse;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ api, store, close } = await openAnalysisApi());
  const { tenantId, projectId } = api;
  const row = (model: string, ...quantities: string[]) =>
    usageRow({
      ...{ tenantId, projectId, occurredAt: FROM_S },
      dimensions: new Map([['model', model]]),
      items: quantities.map((quantity) => usageItem({ quantity: stored(quantity) })),
    });
  await insertUsageRows(store.clickhouse, [row('a', '1'), row('b', '2', '3.5')]);
});

afterAll(() => close());

const MEASURES = [
  ...['unique:model', 'p50', 'p90', 'p95', 'p99', 'average', 'maximum', 'minimum'],
  ...['unique:@subject_id', 'unique:__proto__', 'amount', 'quantity', 'item_count'],
] as const;
const query = { time_range: { from: FROM_S, to: FROM_S + HOUR_S }, bucket_size: 'none', measures: MEASURES };
const ask = (fields: object, headers = {}) =>
  api.call(
    'POST',
    `/v1/projects/${api.projectId}/analysis/query`,
    { ...query, ...fields },
    api.serviceKey,
    headers,
  );

it('returns each measure in a field of its name, in the order that was asked for', async () => {
  const { status, json } = await ask({});
  expect([status, json().measures]).toEqual([200, MEASURES]);
  const kind = { bucket: null, metric: 'llm.tokens', unit: 'token', currency: 'USD', group: {} };
  expect(json().rows).toEqual([
    {
      ...kind,
      ...{ 'unique:model': 2, 'unique:@subject_id': 0, 'unique:__proto__': 0 },
      ...{ p50: '2', p90: '3.2', p95: '3.35', p99: '3.47' },
      ...{ average: '2.166666666666666667', maximum: '3.5', minimum: '1' },
      ...{ amount: '0.03', quantity: '6.5', item_count: 3 },
    },
  ]);
});

it('ranks groups by the first measure, whatever it is', async () => {
  const first = async (measure: string) => {
    const { json } = await ask({ measures: [measure], group_by: ['model'], limit: 1 });
    return json().rows.find(({ other }: { other: boolean }) => !other);
  };
  expect(await first('p50')).toMatchObject({ group: { model: 'b' }, p50: '2.75' });
  expect(await first('minimum')).toMatchObject({ group: { model: 'b' }, minimum: '2' });
  // Equal ones are taken in the order of their values.
  expect(await first('unique:model')).toMatchObject({ group: { model: 'a' }, 'unique:model': 1 });
});

it('writes measures as columns of CSV', async () => {
  const { text } = await ask({ measures: ['unique:model', 'p95'] }, { accept: 'text/csv' });
  expect(text).toBe('bucket,metric,unit,currency,unique:model,p95\r\n,llm.tokens,token,USD,2,3.35\r\n');
});

it('warns of a counted dimension that no usage has', async () => {
  const { json } = await ask({ measures: ['unique:modle', 'unique:@account_id', 'unique:model'] });
  expect(json().warnings).toMatchObject([{ code: 'unknown_dimension', name: 'modle' }]);
});

it.each([
  ['measures[0]', ['unique:']],
  ['measures[0]', [`unique:${'x'.repeat(256)}`]],
  ['measures[0]', ['p51']],
  ['measures[0]', ['median']],
  ['measures', ['unique:@model']],
  ['measures', ['a', 'b', 'c', 'd', 'e'].map((name) => `unique:${name}`)],
  ['measures', Array.from({ length: 17 }, () => 'p50')],
])('refuses a wrong %s by name: %j', async (path, measures) => {
  const { status, json } = await ask({ measures });
  expect([status, json().code, json().details[0].path]).toEqual([400, 'invalid_request', path]);
});

it('lists the measures where one is misspelled', async () => {
  const { json } = await ask({ measures: ['p51'] });
  expect(json().details[0].message).toBe(
    `expected one of ${EVERY_MEASURE.join(', ')}, or text that matches ^unique:`,
  );
});

it('takes four counts of different values, also when one of them is sent twice', async () => {
  const measures = ['a', 'b', 'c', 'd', 'a'].map((name) => `unique:${name}`);
  expect((await ask({ measures })).json().measures).toEqual(measures.slice(0, 4));
});

it('reads rollups where they tell a measure, and events where only these do', () => {
  const kept = { retainedFrom: 0, excludedDimensions: [] };
  const sourcesOf = (measure: (typeof MEASURES)[number] | 'unique:@account_id' | 'unique:@subject_type') => {
    const asked = { ...query, measures: [measure] };
    return planQuery(normalizeQuery(asked, 0), kept).sources.map(({ source }) => source);
  };
  for (const measure of ['average', 'minimum', 'maximum', 'unique:model', 'unique:@subject_type'] as const)
    expect(sourcesOf(measure)).toEqual(['usage_rollup_1h']);
  for (const measure of ['p95', 'unique:@subject_id', 'unique:@account_id'] as const)
    expect(sourcesOf(measure)).toEqual(['usage_events']);
});
