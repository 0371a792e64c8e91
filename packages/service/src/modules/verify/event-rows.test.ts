import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../platform/log/index.js';
import {
  createProject,
  createTestClickHouse,
  createTestPostgres,
  failedRow,
  idOf,
  insertUsageRows,
  type TestClickHouse,
  type TestPostgres,
} from '../../testing/index.js';
import { countIngested } from '../../testing/ingest-totals.js';
import { verifyUsage } from './index.js';

const DAY = 20_254;
const OCCURRED_AT = DAY * 86_400 + 7;
const log = createLog({ level: 'silent' });

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

const verify = () => verifyUsage({ postgres: postgres.postgres, clickhouse: clickhouse.clickhouse, log });

it('finds failed events that cannot be rated again, and other ids than in ClickHouse, of days that are kept', async () => {
  const { projectNo } = await createProject(postgres.postgres, 'ten_1', 'prj_1');
  const { pool } = postgres.postgres;
  const row = failedRow({ occurredAt: OCCURRED_AT });
  const id = idOf(row);
  await insertUsageRows(clickhouse.clickhouse, [row]);
  await pool.query('insert into usage_event_ids values ($1, $2)', [projectNo, id]);
  await pool.query(`insert into usage_event_totals values ('ten_1', 'prj_1', ${DAY}, 0, 1, 0)`);
  await countIngested(postgres.postgres.db);
  await pool.query(
    `insert into failed_events values ('ten_1', 'prj_1', $1, ${OCCURRED_AT}, 0, 'ers_1', 'wrong_type', 0, '{}')`,
    [id],
  );
  expect(await verify()).toMatchObject({ status: 'equal', days_compared: 1 });

  const other = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  await pool.query('delete from failed_events');
  await pool.query('update usage_event_ids set raw_event_id = $1', [other]);
  expect(await verify()).toMatchObject({
    status: 'different',
    differences: [
      { store: 'failed_events', measure: 'failed_count', expected: '1', found: '0' },
      { store: 'usage_event_ids', measure: 'event_id_sum', expected: lastBits(id), found: lastBits(other) },
    ],
  });

  await pool.query(`insert into usage_retention values ('ten_1', 'prj_1', ${DAY + 1}, 0, ${DAY + 1})`);
  expect(await verify()).toMatchObject({ status: 'equal' });
});

function lastBits(id: string): string {
  return String(Number.parseInt(id.replaceAll('-', '').slice(-12), 16));
}
