import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi } from '../../testing/api.js';
import { readGuide } from '../../testing/guide.js';
import { insertUsageRows, stored, type TestClickHouse, usageItem, usageRow } from '../../testing/index.js';
import { openAnalysisApi } from './analysis-api.testing.js';

const guide = readGuide('analysis');

let api: TestApi;
let store: TestClickHouse;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ api, store, close } = await openAnalysisApi());
  const usage = { small: ['1', '20'], large: ['5', '40'], tiny: ['0.25', '5'] } as const;
  const { tenantId, projectId } = api;
  await insertUsageRows(
    store.clickhouse,
    Object.entries(usage).map(([model, [amount, quantity]]) =>
      usageRow({
        tenantId,
        projectId,
        occurredAt: 1_750_000_000,
        dimensions: new Map([['model', model]]),
        items: [
          usageItem({ metric: 'llm.output_tokens', amount: stored(amount), quantity: stored(quantity) }),
          ...(model === 'large' ? [usageItem({ metric: 'llm.input_tokens', amount: stored('0.25') })] : []),
        ],
      }),
    ),
  );
});

afterAll(() => close());

describe('the guide to analysis', () => {
  const ask = (info: string) =>
    api.call('POST', `/v1/projects/${api.projectId}/analysis/query`, guide.blocks(info)[0]);

  it('shows a query', async () => {
    const { status, json } = await ask('json query');
    expect(status).toBe(200);
    expect(json()).toMatchObject({ bucket_size: '1h', measures: ['amount', 'item_count'] });
  });

  it('shows the cost of all metrics', async () => {
    const { json } = await ask('json cost');
    expect(json().rows).toEqual(JSON.parse(guide.blocks('json cost rows')[0] as string));
  });

  it('shows how quantities are distributed', async () => {
    const { json } = await ask('json distribution');
    expect(json().rows).toEqual(JSON.parse(guide.blocks('json distribution rows')[0] as string));
  });

  it('shows the largest group and all others', async () => {
    const { json } = await ask('json top');
    expect(json().rows).toEqual(JSON.parse(guide.blocks('json rows')[0] as string));
  });
});
