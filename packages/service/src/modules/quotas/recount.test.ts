import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import {
  batchRecord,
  createProject,
  PipelineFixture,
  type TestProject,
  testEvent,
} from '../../testing/index.js';
import { rebuildQuotas, recountQuotas } from './recount-store.js';
import { registerQuotaRoutes } from './routes.js';

const JUNE_MS = Date.UTC(2025, 5, 15);
const JULY_MS = Date.UTC(2025, 6, 1);
const DIFFERENCES_MAX = 100;

let fixture: PipelineFixture;
let first: TestProject;
let second: TestProject;

beforeAll(async () => {
  fixture = await PipelineFixture.create();
  first = fixture.project;
  second = await createProject(fixture.postgres, 'ten_b', 'prj_b');
});
beforeEach(() =>
  fixture.postgres.pool.query(
    'truncate event_quotas, event_quota_counters, event_arrivals, event_arrival_counters, segments',
  ),
);
afterAll(() => fixture.drop());

let keys = 0;
const eventsOf = (count: number) =>
  Array.from({ length: count }, () => {
    keys += 1;
    return testEvent(`quota-${keys}`);
  });
const accept = (project: TestProject, count: number, receivedAtMs: number) =>
  fixture.accept(batchRecord(project, eventsOf(count), { receivedAtMs }));
const recount = () => recountQuotas(fixture.postgres, DIFFERENCES_MAX);
async function quotas() {
  const { rows } = await fixture.postgres.pool.query<{
    tenant_id: string;
    month_start: number;
    used: number;
  }>(
    `select tenant_id, month_start, sum(used)::bigint as used from (
      select tenant_id, month_start, used from event_quotas
      union all
      select tenant_id, month_start, used from event_quota_counters
    ) counted
    group by 1, 2 order by 2, 3`,
  );
  return rows;
}

describe('quotas, counted again', () => {
  it('are what rating has got, duplicates too, and what waits for it', async () => {
    const repeated = batchRecord(first, eventsOf(2), { receivedAtMs: JULY_MS - 1 });
    await fixture.accept(repeated, repeated);
    await accept(first, 3, JULY_MS);
    await accept(second, 5, JUNE_MS);
    expect(await recount()).toEqual({ months: 3, difference_count: 0, differences: [] });
    await fixture.worker().drain();
    await accept(first, 4, JULY_MS);
    expect(await recount()).toEqual({ months: 3, difference_count: 0, differences: [] });
    const { tenantId } = first;
    const own = (await quotas()).filter((quota) => quota.tenant_id === tenantId);
    expect(own.map(({ used }) => used)).toEqual([4, 7]);
  });

  it('are found wanting, and set right, whatever has become of them', async () => {
    await accept(first, 2, JUNE_MS);
    await fixture.worker().drain();
    await accept(first, 3, JULY_MS);
    await accept(second, 5, JUNE_MS);
    const before = await quotas();
    await fixture.postgres.pool.query('update event_quota_counters set used = used + 1 where used = 2');
    await fixture.postgres.pool.query('delete from event_quota_counters where used = 5');
    await fixture.postgres.pool.query(
      `insert into event_quotas (tenant_id, month_start, used) values ('ten_gone', 0, 9)`,
    );
    const { months, difference_count, differences } = await recount();
    expect([months, difference_count]).toEqual([4, 3]);
    expect(differences).toEqual(
      expect.arrayContaining([
        { tenant_id: first.tenantId, month: '2025-06', expected: '2', found: '3' },
        { tenant_id: second.tenantId, month: '2025-06', expected: '5', found: '0' },
        { tenant_id: 'ten_gone', month: '1970-01', expected: '0', found: '9' },
      ]),
    );
    expect((await recountQuotas(fixture.postgres, 1)).differences).toHaveLength(1);
    expect(await transaction(fixture.postgres, rebuildQuotas)).toBe(3);
    expect((await recount()).difference_count).toBe(0);
    expect(await quotas()).toEqual([{ tenant_id: 'ten_gone', month_start: 0, used: 0 }, ...before]);
    expect(await transaction(fixture.postgres, rebuildQuotas)).toBe(0);
  });

  it('are not rebuilt while their tenant is moving to another cell', async () => {
    await accept(first, 2, JUNE_MS);
    await accept(second, 5, JUNE_MS);
    await fixture.postgres.pool.query('update event_quota_counters set used = used + 1');
    await fixture.postgres.pool.query(
      `insert into tenant_moves values ('${first.tenantId}', 'm1', 'frozen', 0)`,
    );
    expect(await transaction(fixture.postgres, rebuildQuotas)).toBe(1);
    expect((await recount()).differences).toEqual([
      { tenant_id: first.tenantId, month: '2025-06', expected: '2', found: '3' },
    ]);
    await fixture.postgres.pool.query('delete from tenant_moves');
    expect(await transaction(fixture.postgres, rebuildQuotas)).toBe(1);
  });
});

describe('POST /admin/v1/event-quotas/rebuild', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(registerQuotaRoutes);
  });
  afterAll(() => api.close());

  it('says how many it has set right, and is for the service key alone', async () => {
    const url = '/admin/v1/event-quotas/rebuild';
    await api.postgres.pool.query(
      `insert into event_quotas (tenant_id, month_start, used) values ('ten_x', 0, 1)`,
    );
    const answers = [await api.call('POST', url), await api.call('POST', url)];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, '{"corrected":1}'],
      [200, '{"corrected":0}'],
    ]);
    const key = await api.makeKey(api.tenantId, ['tenant:admin']);
    expect((await api.call('POST', url, undefined, key)).json().code).toBe('permission_denied');
  });
});
