import { afterAll, beforeAll, expect, test } from 'vitest';
import { outdatedViews } from '../../platform/clickhouse/index.js';
import { withAdvisoryLock } from '../../platform/postgres/index.js';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
} from '../../testing/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';
import { provisionStorage } from '../storage/index.js';
import { replaceViews } from './view-store.js';

let store: TestPostgres;
let house: TestClickHouse;
beforeAll(async () => {
  [store, house] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
});
afterAll(() => Promise.all([store.drop(), house.drop()]));

const SUFFIXES = ['_7'];
const deps = () => ({ postgres: store.postgres, clickhouse: house.clickhouse });
const outdated = async () => (await outdatedViews(house.clickhouse, SUFFIXES)).length;

test('views of earlier releases are replaced, but not while a projector works', async () => {
  await provisionStorage(house.clickhouse, 7);
  expect(await outdated()).toBe(0);
  for (const suffix of ['', ...SUFFIXES]) {
    await house.clickhouse.command(
      `CREATE OR REPLACE MATERIALIZED VIEW usage_rollup_view${suffix} TO usage_rollup${suffix} AS
       SELECT tenant_id, project_id, count() AS item_count FROM usage_events${suffix} GROUP BY ALL`,
    );
  }
  expect(await outdated()).toBe(2);
  await withAdvisoryLock(store.postgres, PROJECTOR_LOCK, () => replaceViews(deps(), SUFFIXES));
  expect(await outdated()).toBe(2);
  const denied = Object.assign(Object.create(house.clickhouse), {
    query: house.clickhouse.query.bind(house.clickhouse),
    insertsEnded: house.clickhouse.insertsEnded.bind(house.clickhouse),
    command: () => Promise.reject(Object.assign(new Error('denied'), { type: 'ACCESS_DENIED' })),
  });
  await replaceViews({ postgres: store.postgres, clickhouse: denied }, SUFFIXES);
  expect(await outdated()).toBe(2);
  await replaceViews(deps(), SUFFIXES);
  expect(await outdated()).toBe(0);
});
