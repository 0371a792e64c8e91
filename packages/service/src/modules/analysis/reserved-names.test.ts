import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestApi } from '../../testing/api.js';
import { insertUsageRows, type TestClickHouse, usageItem, usageRow } from '../../testing/index.js';
import { openAnalysisApi } from './analysis-api.testing.js';

const FROM_S = 1_750_000_000;

let api: TestApi;
let store: TestClickHouse;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ api, store, close } = await openAnalysisApi());
  const { tenantId, projectId } = api;
  const row = (fields: Parameters<typeof usageRow>[0]) =>
    usageRow({ tenantId, projectId, occurredAt: FROM_S, ...fields });
  const unpriced = usageItem({ currency: '', amount: 0n, pricingSource: 'unpriced' });
  await insertUsageRows(store.clickhouse, [
    row({ subjectType: 'user', subjectId: 'u1', accountId: 'acc_1', items: [usageItem(), unpriced] }),
    row({ subjectType: 'team', accountId: 'acc_2' }),
    row({ subjectType: 'team', items: [unpriced] }),
  ]);
});

afterAll(() => close());

const ask = (fields: object) =>
  api.call('POST', `/v1/projects/${api.projectId}/analysis/query`, {
    time_range: { from: FROM_S, to: FROM_S + 60 },
    bucket_size: 'none',
    measures: ['item_count'],
    ...fields,
  });

it('groups by reserved names, and warns of none of them', async () => {
  const groupBy = ['@account_id', '@pricing_source', '@subject_type', '@subject_id'];
  const { json } = await ask({ group_by: groupBy });
  const { rows, ...rest } = json();
  expect(rest).toMatchObject({ group_by: ['bucket', ...groupBy], warnings: [] });
  expect(rows.map(({ group }: { group: object }) => Object.values(group))).toEqual([
    ['acc_1', 'unpriced', 'user', 'u1'],
    [null, 'unpriced', 'team', null],
    ['acc_1', 'extractor', 'user', 'u1'],
    ['acc_2', 'extractor', 'team', null],
  ]);
});

it.each([
  [{ '@account_id': { in: ['acc_1'] } }, 2],
  [{ '@account_id': { exists: false } }, 1],
  [{ '@pricing_source': { in: ['unpriced'] } }, 2],
  [{ '@pricing_source': { not_in: ['unpriced'] }, '@subject_id': { exists: true } }, 1],
  [{ '@pricing_source': { in: ['no such source'] } }, 0],
  [{ '@subject_type': { in: ['team'] }, subject_type: { in: ['team', 'user'] } }, 2],
])('filters by %j', async (filters, count) => {
  const { json } = await ask({ filters, split_by: [] });
  const counts = json().rows.map(({ item_count }: { item_count: number }) => item_count);
  expect(counts.reduce((sum: number, each: number) => sum + each, 0)).toBe(count);
});

it.each([
  ['group_by', { group_by: ['@model'] }],
  ['filters["@bucket"]', { filters: { '@bucket': { exists: true } } }],
])('refuses other names that start with @, in %s', async (path, fields) => {
  const { status, json } = await ask(fields);
  const message = 'must be a dimension or one of @account_id, @pricing_source, @subject_type, @subject_id';
  expect([status, json().details]).toEqual([400, [{ path, message }]]);
});
