import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUsageHistory } from '../storage/index.js';
import { type CatalogApi, createCatalogApi } from './catalog.testing.js';
import { Entitlements } from './entitlements.js';

let api: CatalogApi;
beforeAll(async () => {
  api = await createCatalogApi();
});
afterAll(() => api.close());

const seconds = (time: string) => Date.parse(time) / 1_000;

async function deletedAt(tenantId: string): Promise<number | null> {
  const answer = await api.call('GET', `/admin/v1/tenants/${tenantId}/entitlement`);
  return answer.json().hidden_history_deleted_at;
}

async function buy(tenantId: string, planId: string): Promise<void> {
  await api.grant(tenantId, planId);
  await api.entitlements.applyGrants(tenantId);
}

async function addUsage(tenantId: string, projectId: string, time: string): Promise<void> {
  await api.postgres.pool.query(
    'insert into usage_event_totals (tenant_id, project_id, day, processed_count, failed_count) values ($1, $2, $3, 1, 0)',
    [tenantId, projectId, seconds(time) / 86_400],
  );
}

it('says nothing of deletion to who has no usage that is hidden', async () => {
  api.goTo('2029-01-01T00:00:00Z');
  const tenantId = await api.makeTenant();
  const projectId = await api.makeProject(tenantId);
  await addUsage(tenantId, projectId, '2028-12-31T00:00:00Z');
  await buy(tenantId, 'launch');
  expect(await deletedAt(tenantId)).toBeNull();
  await addUsage(tenantId, projectId, '2028-09-01T00:00:00Z');
  expect(await deletedAt(tenantId)).toBe(seconds('2029-01-31T00:00:00Z'));
  // History that is marked for deletion is not reported as hidden any more.
  await api.postgres.pool.query('update usage_retention set retained_from_day = shown_from_day');
  expect(await deletedAt(tenantId)).toBeNull();
});

it('shows what the plan shows, keeps what the last 30 days showed, and says until when', async () => {
  api.goTo('2030-01-01T00:00:00Z');
  const tenantId = await api.makeTenant();
  const retention = () => api.entitlements.historyRetention(tenantId);
  await addUsage(tenantId, await api.makeProject(tenantId), '2029-03-01T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: -1, keptDays: -1, graceEndsAt: null });
  expect(await deletedAt(tenantId)).toBeNull();

  await buy(tenantId, 'launch');
  const unlimitedUntil = seconds('2030-01-31T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 90, keptDays: -1, graceEndsAt: unlimitedUntil });
  expect(await deletedAt(tenantId)).toBe(unlimitedUntil);

  // Buying the plan again within the grace period shows the history again; history beyond its retention stays hidden.
  api.goTo('2030-01-20T00:00:00Z');
  await buy(tenantId, 'growth');
  expect(await retention()).toEqual({ shownDays: 365, keptDays: -1, graceEndsAt: unlimitedUntil });
  api.goTo('2030-01-30T23:59:59Z');
  expect(await retention()).toMatchObject({ keptDays: -1 });
  api.goTo('2030-01-31T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 365, keptDays: 365, graceEndsAt: null });
  expect(await deletedAt(tenantId)).toBeNull();

  // A downgrade starts a grace period of its own.
  api.goTo('2030-02-10T00:00:00Z');
  await buy(tenantId, 'launch');
  const graceEndsAt = seconds('2030-03-12T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 90, keptDays: 365, graceEndsAt });
  expect(await deletedAt(tenantId)).toBe(graceEndsAt);
  await buy(tenantId, 'launch');
  api.goTo('2030-03-12T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 90, keptDays: 90, graceEndsAt: null });
  api.goTo('2030-06-01T00:00:00Z');
  expect(await retention()).toMatchObject({ shownDays: -1, keptDays: -1, graceEndsAt: null });
});

it('shows as much history as a plan shows once its grant is applied, without waiting for a sweep', async () => {
  api.goTo('2031-01-01T00:00:00Z');
  const tenantId = await api.makeTenant();
  const projectId = await api.makeProject(tenantId);
  const { postgres, clock } = api;
  // Its clock does not advance, so its cache never expires.
  const history = createUsageHistory({ postgres, monotonicMs: () => 0 });
  const baseline = { plan: 'unlimited', eventAgeDaysMax: 3_650, eventAheadDaysMax: 30 } as const;
  const entitlements = new Entitlements({ postgres, clock, baseline, history });
  const shownFrom = async () => {
    const scope = await history.scopeOf({ tenantId, projectId, projectNo: 1, storage: 'shared' });
    return new Date(scope.retainedFrom * 1_000).toISOString().slice(0, 10);
  };
  const buy = async (planId: string) => {
    await api.grant(tenantId, planId);
    await entitlements.applyGrants(tenantId);
  };
  expect(await shownFrom()).toBe('1970-01-01');
  await buy('launch');
  expect(await shownFrom()).toBe('2030-10-03');
  await buy('growth');
  expect(await shownFrom()).toBe('2030-01-01');
  // History that is marked for deletion does not come back with a longer plan.
  await postgres.pool.query('update usage_retention set retained_from_day = shown_from_day');
  api.goTo('2031-01-02T00:00:00Z');
  await buy('launch');
  await buy('growth');
  expect(await shownFrom()).toBe('2030-01-02');
  await buy('enterprise');
  expect(await shownFrom()).toBe('2030-01-01');
});
