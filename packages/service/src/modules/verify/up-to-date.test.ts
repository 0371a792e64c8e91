import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { createLog } from '../../platform/log/index.js';
import {
  createProject,
  createTestClickHouse,
  createTestPostgres,
  insertUsageRows,
  type TestClickHouse,
  type TestPostgres,
  usageRow,
} from '../../testing/index.js';
import { verifyUsage } from './service.js';

let clickhouse: TestClickHouse;
let postgres: TestPostgres;
beforeAll(async () => {
  clickhouse = await createTestClickHouse();
  postgres = await createTestPostgres();
});
afterAll(async () => {
  await clickhouse.drop();
  await postgres.drop();
});

it('reads only after the replica has fetched the rows of every table, also of projects with their own', async () => {
  const { projectNo } = await createProject(postgres.postgres, 'ten_1', 'prj_1', 'dedicated');
  await insertUsageRows(clickhouse.clickhouse, [usageRow({ projectId: 'prj_unknown', items: [] })]);
  const fetched: string[] = [];
  // It has no other way to read.
  const replica: Pick<ClickHouse, 'upToDate'> = {
    upToDate: (tables) => {
      fetched.push(tables.join());
      return clickhouse.clickhouse.upToDate(tables);
    },
  };
  const log = createLog({ level: 'silent' });
  const report = await verifyUsage({ postgres: postgres.postgres, clickhouse: replica, log });
  expect(report.differences).toMatchObject([{ project_id: 'prj_unknown' }]);
  const own = `usage_events_${projectNo},usage_rollup_${projectNo}`;
  expect(new Set(fetched)).toEqual(new Set([`usage_events,usage_rollup,${own}`]));
  // Once for the days, once for the events of the only day, once for posted usage.
  expect(fetched).toHaveLength(3);
});
