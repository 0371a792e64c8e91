import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TenantDb } from '../../platform/postgres/index.js';
import { applyCatalog } from './apply.js';
import { type CatalogApi, clockAt, createCatalogApi, grantNewest } from './catalog.testing.js';
import { Entitlements } from './entitlements.js';
import { effectiveEnd } from './grant.js';
import { openGrants } from './grant-store.js';
import { newestPlan } from './plan-store.js';

let api: CatalogApi;
beforeAll(async () => {
  api = await createCatalogApi();
  api.goTo('2026-01-31T12:00:00Z');
});
afterAll(() => api.close());

const AT_S = Date.parse('2026-01-31T12:00:00Z') / 1_000;

describe('granting', () => {
  it('makes one grant of a source, however often and however many at once', async () => {
    const tenantId = await api.makeTenant();
    const all = await Promise.all(
      Array.from({ length: 8 }, () => api.grant(tenantId, 'launch', 'payment:once')),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await api.grant(tenantId, 'launch', 'payment:once')).toEqual(all[0]);
    expect(await openGrants(new TenantDb(api.postgres.db, tenantId), AT_S)).toEqual([all[0]]);
    expect(all[0]).toMatchObject({ tenantId, startsAt: AT_S, endedAt: null, source: 'payment:once' });
    expect(all[0]?.id).toMatch(/^grt_[0-9a-f]{32}$/);
  });

  it('refuses a source that another tenant was granted for', async () => {
    await api.grant(await api.makeTenant(), 'launch', 'payment:mine');
    await expect(api.grant(await api.makeTenant(), 'launch', 'payment:mine')).rejects.toThrow(
      'payment:mine was granted to another tenant',
    );
  });

  it('lines up what is bought at once: the same plan in a row, another one in its place', async () => {
    const tenantId = await api.makeTenant();
    await Promise.all(Array.from({ length: 6 }, () => api.grant(tenantId, 'launch')));
    const inARow = await openGrants(new TenantDb(api.postgres.db, tenantId), AT_S);
    expect(inARow.map(({ startsAt }) => startsAt)).toEqual([
      AT_S,
      ...inARow.slice(0, -1).map(({ endsAt }) => endsAt),
    ]);
    await Promise.all(['growth', 'scale', 'growth'].map((planId) => api.grant(tenantId, planId)));
    const open = await openGrants(new TenantDb(api.postgres.db, tenantId), AT_S);
    expect(new Set(open.map(({ plan }) => plan.id)).size).toBe(1);
    for (const [index, grant] of open.entries()) {
      expect(grant.startsAt).toBe(index === 0 ? AT_S : effectiveEnd(open[index - 1] as typeof grant));
    }
  });

  it('keeps the plan as it was bought when the catalog changes', async () => {
    const tenantId = await api.makeTenant();
    const before = await newestPlan(api.postgres.db, 'scale');
    if (before === undefined) throw new Error('no plan');
    await api.grant(tenantId, 'scale');
    const { revision, status, ...offer } = before;
    await applyCatalog(api, { plans: [{ ...offer, max_release_projects: 21 }] });
    expect(await api.entitlements.current(tenantId)).toMatchObject({
      revision,
      limits: { maxReleaseProjects: 20 },
    });
    const follower = await api.grant(tenantId, 'scale');
    expect(follower.plan).toMatchObject({ revision: revision + 1, max_release_projects: 21 });
    const [first, second] = await openGrants(new TenantDb(api.postgres.db, tenantId), AT_S);
    expect([first?.plan.revision, second?.plan.revision]).toEqual([revision, revision + 1]);
    expect(second?.startsAt).toBe(first?.endsAt);
  });

  it('cannot be undone: a grant ends once, and nothing else of it changes', async () => {
    const tenantId = await api.makeTenant();
    const { id } = await api.grant(tenantId, 'launch');
    await api.grant(tenantId, 'growth');
    for (const change of [
      `update entitlement_grants set ended_at = null where id = '${id}'`,
      `update entitlement_grants set ends_at = ends_at + 1 where tenant_id = '${tenantId}'`,
      `delete from entitlement_grants where tenant_id = '${tenantId}'`,
      'update catalog_plans set amount_minor = 1',
      'delete from catalog_plans',
    ]) {
      await expect(api.postgres.pool.query(change)).rejects.toThrow('is append-only');
    }
  });
});

describe('what is known of grants', () => {
  it('is a second old at most, and new at once where the grant was made', async () => {
    const tenantId = await api.makeTenant();
    const clock = clockAt('2026-01-31T12:00:00Z');
    let monotonicMs = 0;
    let reads = 0;
    const { db } = api.postgres;
    const entitlements = new Entitlements({
      postgres: {
        ...api.postgres,
        get db() {
          reads += 1;
          return db;
        },
      },
      clock,
      baseline: { plan: 'unlimited', eventAgeDaysMax: 1, eventAheadDaysMax: 1 },
      monotonicMs: () => monotonicMs,
    });
    const planId = async () => (await entitlements.current(tenantId)).planId;
    expect(await planId()).toBe('unlimited');
    await grantNewest(api.postgres, { tenantId, planId: 'launch', atS: AT_S });
    expect(entitlements.current(tenantId)).not.toBeInstanceOf(Promise);
    expect([await planId(), reads]).toEqual(['unlimited', 1]);
    monotonicMs = 1_000;
    expect(await planId()).toBe('launch');
    await grantNewest(api.postgres, { tenantId, planId: 'growth', atS: AT_S });
    await entitlements.applyGrants(tenantId);
    expect(await planId()).toBe('growth');
    // A grant ends at its second, even when it comes from the cache.
    clock.advanceMs(Date.parse('2026-02-28T11:59:59Z') - clock.nowMs());
    expect(entitlements.current(tenantId)).toMatchObject({ planId: 'growth' });
    clock.advanceMs(1_000);
    expect(entitlements.current(tenantId)).toMatchObject({ planId: 'unlimited', status: 'baseline' });
  });

  it('is set up any number of times alike', async () => {
    const tenantId = await api.makeTenant();
    const used = async () =>
      (await api.postgres.pool.query('select used from event_quotas where tenant_id = $1', [tenantId])).rows;
    await api.entitlements.applyGrants(tenantId);
    expect(await used()).toEqual([{ used: 0 }]);
    await api.postgres.pool.query('update event_quotas set used = 7 where tenant_id = $1', [tenantId]);
    await api.entitlements.applyGrants(tenantId);
    expect(await used()).toEqual([{ used: 7 }]);
  });
});
