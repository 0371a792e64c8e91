import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { expire } from './expiry.js';
import type { HistoryStore } from './expiry-store.js';

let store: TestClickHouse;
beforeAll(async () => {
  store = await createTestClickHouse();
});
afterAll(() => store.drop());

it('considers parts and deletions of every replica', async () => {
  const commands: string[] = [];
  // A part that another replica has, and a deletion that fails there.
  const elsewhere = {
    parts: `(SELECT 'usage_events_7' AS table, '202601' AS partition_id, true AS active)`,
    mutations: `(SELECT 'usage_rollup' AS table, 0 AS is_done, 'no space left' AS latest_fail_reason)`,
  };
  const replica: HistoryStore = {
    query: (...args) => store.clickhouse.query(...args),
    command: async (sql) => {
      commands.push(sql);
    },
    systemTable: (name) => elsewhere[name],
  };
  const project = { tenantId: 'ten_1', retainedFromDay: 20_500 };
  const result = await expire(replica, [
    { ...project, projectId: 'prj_7', projectNo: 7, storage: 'dedicated' },
    { ...project, projectId: 'prj_1', projectNo: 1, storage: 'shared' },
  ]);
  expect(commands).toEqual([
    expect.stringContaining("ALTER TABLE `usage_events_7` DROP PARTITION ID '202601'"),
  ]);
  expect(result).toEqual({
    partitionsDropped: 1,
    deletions: 0,
    stuck: [{ table: 'usage_rollup', problem: 'no space left' }],
  });
});
