import { afterAll, beforeAll, expect, it } from 'vitest';
import { TEST_SCOPE } from '../../testing/history.js';
import { createTestClickHouse, insertUsageRows, type TestClickHouse, usageRow } from '../../testing/index.js';
import { type BlockReader, isKept, OWN_ROWS, ProjectHistory } from './project-history.js';

const KEPT_S = 1_750_000_000;

let store: TestClickHouse;
let own: ProjectHistory<BlockReader>;

beforeAll(async () => {
  store = await createTestClickHouse();
  own = new ProjectHistory(store.clickhouse, { ...TEST_SCOPE, retainedFrom: KEPT_S });
  await insertUsageRows(store.clickhouse, [
    usageRow({ occurredAt: KEPT_S }),
    usageRow({ occurredAt: KEPT_S - 1 }),
    usageRow({ occurredAt: KEPT_S, tenantId: 'ten_2' }),
    usageRow({ occurredAt: KEPT_S, projectId: 'prj_2' }),
  ]);
});
afterAll(() => store.drop());

it.each([
  ['no condition', 'SELECT 1 FROM usage_events'],
  ['the project alone', 'SELECT 1 FROM usage_events WHERE project_id = {project:String}'],
  [
    'the ids written by hand',
    "SELECT 1 FROM usage_events WHERE tenant_id = 'ten_1' AND project_id = 'prj_1'",
  ],
])('refuses a statement with %s', async (_name, sql) => {
  await expect(own.query(sql)).rejects.toThrow('names no tenant and project');
  await expect(own.blocks(1_000, sql)).rejects.toThrow('names no tenant and project');
});

it('reads rows of the project only, whatever parameters a statement brings', async () => {
  const times = `SELECT toUnixTimestamp(occurred_at) AS at FROM ${own.tables.events} WHERE ${OWN_ROWS}`;
  const foreign = { tenant: 'ten_2', project: 'prj_2' };
  expect(await own.query(`${times} ORDER BY at`, foreign)).toEqual([{ at: KEPT_S - 1 }, { at: KEPT_S }]);
  expect(await own.query(`${times} AND ${isKept('occurred_at')}`)).toEqual([{ at: KEPT_S }]);
});
