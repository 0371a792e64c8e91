import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CatalogApi, createCatalogApi } from './catalog.testing.js';

let api: CatalogApi;
beforeAll(async () => {
  api = await createCatalogApi();
});
afterAll(() => api.close());

const seconds = (time: string) => Date.parse(time) / 1_000;

it('shows what the plan shows, keeps what the last 30 days showed, and says until when', async () => {
  api.goTo('2030-01-01T00:00:00Z');
  const tenantId = await api.makeTenant();
  const retention = () => api.entitlements.historyRetention(tenantId);
  const deletedAt = async () =>
    (await api.call('GET', `/admin/v1/tenants/${tenantId}/entitlement`)).json().hidden_history_deleted_at;
  expect(await retention()).toEqual({ shownDays: -1, keptDays: -1, graceEndsAt: null });
  expect(await deletedAt()).toBeNull();

  await api.grant(tenantId, 'launch');
  const unlimitedUntil = seconds('2030-01-31T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 90, keptDays: -1, graceEndsAt: unlimitedUntil });
  expect(await deletedAt()).toBe(unlimitedUntil);

  // Buying back within the grace shows it again; what is longer still stays in its grace.
  api.goTo('2030-01-20T00:00:00Z');
  await api.grant(tenantId, 'growth');
  expect(await retention()).toEqual({ shownDays: 365, keptDays: -1, graceEndsAt: unlimitedUntil });
  api.goTo('2030-01-30T23:59:59Z');
  expect(await retention()).toMatchObject({ keptDays: -1 });
  api.goTo('2030-01-31T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 365, keptDays: 365, graceEndsAt: null });
  expect(await deletedAt()).toBeNull();

  // A downgrade begins a grace of its own.
  api.goTo('2030-02-10T00:00:00Z');
  await api.grant(tenantId, 'launch');
  const graceEndsAt = seconds('2030-03-12T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 90, keptDays: 365, graceEndsAt });
  expect(await deletedAt()).toBe(graceEndsAt);
  await api.grant(tenantId, 'launch');
  api.goTo('2030-03-12T00:00:00Z');
  expect(await retention()).toEqual({ shownDays: 90, keptDays: 90, graceEndsAt: null });
  api.goTo('2030-06-01T00:00:00Z');
  expect(await retention()).toMatchObject({ shownDays: -1, keptDays: -1, graceEndsAt: null });
});
