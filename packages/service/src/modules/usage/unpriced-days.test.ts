import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../platform/log/index.js';
import { readMigrations } from '../../platform/migration-files.js';
import { ProjectDb } from '../../platform/postgres/index.js';
import {
  createProject,
  createTestClickHouse,
  createTestPostgres,
  failedRow,
  insertUsageRows,
  type TestClickHouse,
  type TestPostgres,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { ingestCounts } from './status-store.js';
import { createUnpricedDaysJob } from './unpriced-days.js';

const DAY_S = 86_400;
const DAY = 20_254;

let store: TestClickHouse;
let postgres: TestPostgres;

beforeEach(async () => {
  store = await createTestClickHouse();
  postgres = await createTestPostgres();
  await createProject(postgres.postgres, 'ten_1', 'prj_1');
  await createProject(postgres.postgres, 'ten_2', 'prj_2');
});
afterEach(async () => {
  await store.drop();
  await postgres.drop();
});

const query = (sql: string) => postgres.postgres.pool.query(sql);
const log = createLog({ level: 'silent' });
const sweep = (clickhouse: Pick<TestClickHouse['clickhouse'], 'upToDate'> = store.clickhouse) =>
  createUnpricedDaysJob({ postgres: postgres.postgres, clickhouse, log }).sweep();
const unpricedOf = async (tenantId: string, projectId: string) =>
  (await ingestCounts(new ProjectDb(postgres.postgres.db, { tenantId, projectId }))).unpriced;

const FREE = usageItem({ currency: '', pricingSource: 'unpriced', metric: 'llm.calls' });

/** Data of an earlier release: events on three days, and totals without a count of unpriced events. */
async function earlierRelease(): Promise<void> {
  const of = { tenantId: 'ten_1', projectId: 'prj_1' };
  const other = { tenantId: 'ten_2', projectId: 'prj_2' };
  const at = (day: number, second = 0) => ({ occurredAt: (DAY + day) * DAY_S + second });
  await insertUsageRows(store.clickhouse, [
    usageRow({ ...of, ...at(0), items: [usageItem(), FREE, FREE] }),
    usageRow({ ...of, ...at(0, DAY_S - 1), items: [FREE] }),
    usageRow({ ...of, ...at(0, 5), items: [usageItem()] }),
    failedRow({ ...of, ...at(0, 7) }),
    usageRow({ ...of, ...at(1), items: [FREE] }),
    usageRow({ ...of, ...at(2), items: [usageItem()] }),
    usageRow({ ...other, ...at(0), items: [FREE] }),
  ]);
  await query(`alter table usage_event_totals drop column unpriced_count;
    insert into usage_event_totals (tenant_id, project_id, day, processed_count, failed_count) values
      ('ten_1', 'prj_1', ${DAY}, 3, 1), ('ten_1', 'prj_1', ${DAY + 1}, 1, 0), ('ten_1', 'prj_1', ${DAY + 2}, 1, 0),
      ('ten_2', 'prj_2', ${DAY}, 1, 0);
    insert into usage_totals (tenant_id, project_id, day, metric, unit, currency, item_count, quantity, amount) values
      ('ten_1', 'prj_1', ${DAY}, 'llm.calls', '', '', 3, 3, 0), ('ten_1', 'prj_1', ${DAY + 1}, 'llm.calls', '', '', 1, 1, 0),
      ('ten_2', 'prj_2', ${DAY}, 'llm.calls', '', '', 1, 1, 0)`);
}

async function upgrade(): Promise<void> {
  const step = readMigrations('postgres').find(({ name }) => name === 'unpriced_events');
  if (step === undefined) throw new Error('the migration that counts unpriced events has another name');
  await query(step.sql);
}

describe('days that an earlier release has rated', () => {
  beforeEach(async () => {
    await earlierRelease();
    await upgrade();
  });

  it('are counted after the upgrade, once', async () => {
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(0);
    expect(await sweep()).toBe(3);
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(3);
    expect(await unpricedOf('ten_2', 'prj_2')).toBe(1);
    const { rows } = await query('select count(*) from usage_event_totals where unpriced_count is null');
    expect(rows).toEqual([{ count: 0 }]);
    expect(await sweep()).toBe(0);
  });

  it('wait while the tenant is in another cell, and nobody reads history for them', async () => {
    await query(`insert into tenant_moves values ('ten_1', 'mov_1', 'moved', 0)`);
    let reads = 0;
    const counting: Pick<TestClickHouse['clickhouse'], 'upToDate'> = {
      upToDate: (tables) => {
        reads += 1;
        expect(tables).toEqual(['usage_events', 'usage_rollup']);
        return store.clickhouse.upToDate(tables);
      },
    };
    expect(await sweep(counting)).toBe(1);
    expect(await sweep(counting)).toBe(0);
    expect(reads).toBe(1);
    await query('delete from tenant_moves');
    expect(await sweep()).toBe(2);
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(3);
  });

  it('wait while a batch of the project is not in ClickHouse', async () => {
    await query(`insert into usage_batches
      (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids, bytes)
      values (0, 0, 1, 0, 0, array['prj_1'], ''::bytea)`);
    expect(await sweep()).toBe(1);
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(0);
    await query('delete from usage_batches');
    expect(await sweep()).toBe(2);
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(3);
  });

  it('are counted later when a batch changes them meanwhile', async () => {
    const late = usageRow({ tenantId: 'ten_1', projectId: 'prj_1', occurredAt: DAY * DAY_S, items: [FREE] });
    let isLate = true;
    const query: TestClickHouse['clickhouse']['query'] = async (...args) => {
      const found = await store.clickhouse.query(...args);
      if (isLate && JSON.stringify(args).includes(`${DAY * DAY_S}`)) {
        isLate = false;
        await insertUsageRows(store.clickhouse, [late]);
        await postgres.postgres.pool.query(`update usage_event_totals set processed_count = processed_count + 1
          where project_id = 'prj_1' and day = ${DAY}`);
      }
      return found as never;
    };
    const racing = { upToDate: async () => Object.assign(Object.create(store.clickhouse), { query }) };
    expect(await sweep(racing)).toBe(2);
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(1);
    expect(await sweep()).toBe(1);
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(4);
  });

  it('are not counted where their history is no longer kept', async () => {
    await query(`insert into usage_retention (tenant_id, project_id, retained_from_day, shown_from_day, recorded_at_ms)
      values ('ten_1', 'prj_1', ${DAY + 1}, ${DAY + 1}, 0)`);
    expect(await sweep()).toBe(2);
    expect(await unpricedOf('ten_1', 'prj_1')).toBe(1);
  });
});
