import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { EventRate } from './event-rate.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

const query = (text: string) => store.postgres.pool.query(text);

it('counts what tenants gain while they are here, and not what they bring along or take away', async () => {
  let nowMs = 5_000;
  const rate = new EventRate(store.postgres, () => nowMs);
  const measureAfter = (seconds: number) => {
    nowMs += 1_000 * seconds;
    return rate.measure();
  };
  const add = (tenantId: string, projectId: string, events: number) =>
    query(`insert into ingest_totals (tenant_id, project_id, processed_count, failed_count, duplicate_count)
      values ('${tenantId}', '${projectId}', ${events}, 0, 0)
      on conflict (project_id) do update set processed_count = ingest_totals.processed_count + ${events}`);
  await add('ten_1', 'prj_1', 1_000);
  expect(await rate.measure()).toEqual({ total: 1_000, perSecond: undefined });
  await add('ten_1', 'prj_1', 600);
  await add('ten_1', 'prj_2', 400);
  expect(await measureAfter(10)).toEqual({ total: 2_000, perSecond: 100 });

  await query(`insert into tenant_moves values ('ten_2', 'mov_1', 'arriving', 0)`);
  await add('ten_2', 'prj_3', 50_000);
  await add('ten_1', 'prj_1', 10);
  expect(await measureAfter(10)).toEqual({ total: 2_010, perSecond: 1 });
  await query('delete from tenant_moves');
  await add('ten_1', 'prj_1', 10);
  expect(await measureAfter(10)).toEqual({ total: 52_020, perSecond: 1 });
  await add('ten_2', 'prj_3', 20);
  expect(await measureAfter(10)).toEqual({ total: 52_040, perSecond: 2 });

  await query(`insert into tenant_moves values ('ten_2', 'mov_2', 'moved', 0)`);
  await add('ten_1', 'prj_1', 30);
  expect(await measureAfter(10)).toEqual({ total: 2_050, perSecond: 3 });
});
