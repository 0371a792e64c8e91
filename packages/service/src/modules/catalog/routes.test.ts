import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CatalogApi, createCatalogApi } from './catalog.testing.js';

let api: CatalogApi;
beforeAll(async () => {
  api = await createCatalogApi();
});
beforeEach(() => api.goTo('2026-01-31T12:00:00Z'));
afterAll(() => api.close());

const SHARED = {
  requires_release_project_usage_storage: false,
  release_project_usage_storage_dynamic_partition_start: -90,
  release_project_usage_storage_dynamic_partition_end: 3,
  release_project_usage_storage_create_history_partition: false,
};
const DEDICATED = {
  requires_release_project_usage_storage: true,
  release_project_usage_storage_dynamic_partition_start: -732,
  release_project_usage_storage_dynamic_partition_end: 30,
  release_project_usage_storage_create_history_partition: true,
};

type Numbers = readonly [number, number, number, number, number, number, number];

function plan(id: string, name: string, numbers: Numbers, budgets: boolean, storage: typeof SHARED) {
  const [amount, events, days, development, release, routes, controls] = numbers;
  return {
    id,
    revision: 1,
    status: 'published',
    display_name: name,
    amount_minor: amount,
    currency: 'USD',
    period: 'month',
    monthly_event_limit: events,
    retention_days: days,
    max_development_projects: development,
    max_release_projects: release,
    max_subject_routes: routes,
    max_usage_controls: controls,
    ...storage,
    features: { budgets },
  };
}

const LAUNCH = plan('launch', 'Launch', [1_900, 1_000_000, 90, 3, 1, 1_000, 50], false, SHARED);

describe('GET /v1/plans', () => {
  it('lists the first revision of every plan, without a key', async () => {
    const response = await api.app.inject({ method: 'GET', url: '/v1/plans' });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      plans: [
        LAUNCH,
        plan('growth', 'Growth', [19_900, 20_000_000, 365, 10, 5, 50_000, 500], true, SHARED),
        plan('scale', 'Scale', [49_900, 200_000_000, 730, -1, 20, -1, -1], true, DEDICATED),
        plan('enterprise', 'Enterprise', [0, -1, -1, -1, -1, -1, -1], true, DEDICATED),
      ],
      payment_provider: 'sandbox',
    });
  });
});

describe('GET entitlement', () => {
  const entitlementOf = async (tenantId: string) =>
    (await api.call('GET', `/admin/v1/tenants/${tenantId}/entitlement`)).json();

  it('without a grant is the baseline, the same for every key of the tenant', async () => {
    const tenantId = await api.makeTenant();
    const projectId = await api.makeProject(tenantId);
    const expected = {
      tenant_id: tenantId,
      plan_id: 'unlimited',
      revision: 0,
      status: 'baseline',
      starts_at: null,
      ends_at: null,
      monthly_event_limit: -1,
      retention_days: -1,
      hidden_history_deleted_at: null,
      max_development_projects: -1,
      max_release_projects: -1,
      max_subject_routes: -1,
      max_usage_controls: -1,
      requires_release_project_usage_storage: false,
      release_project_usage_storage_dynamic_partition_start: -3_650,
      release_project_usage_storage_dynamic_partition_end: 30,
      release_project_usage_storage_create_history_partition: false,
      features: { budgets: true },
      usage: {
        events_this_month: 0,
        development_projects: 0,
        release_projects: 1,
        subject_routes: 0,
        usage_controls: 0,
      },
    };
    const keys = [
      await api.makeKey(tenantId, ['tenant:admin']),
      await api.makeKey(tenantId, ['usage:ingest']),
      await api.makeKey(tenantId, ['rules:read'], projectId),
    ];
    for (const key of keys) {
      const answer = await api.call('GET', '/v1/entitlement', undefined, key);
      expect([answer.status, answer.json()]).toEqual([200, expected]);
    }
    expect(await entitlementOf(tenantId)).toEqual(expected);
  });

  it('under a grant is the plan as it was bought, until its last second', async () => {
    const tenantId = await api.makeTenant();
    const { startsAt, endsAt } = await api.grant(tenantId, 'launch');
    const { id, display_name, amount_minor, currency, period, ...limits } = LAUNCH;
    api.goTo('2026-02-28T11:59:59Z');
    expect(await entitlementOf(tenantId)).toMatchObject({
      ...limits,
      plan_id: 'launch',
      status: 'active',
      starts_at: startsAt,
      ends_at: endsAt,
    });
    expect(endsAt).toBe(Date.parse('2026-02-28T12:00:00Z') / 1_000);
    api.goTo('2026-02-28T12:00:00Z');
    expect(await entitlementOf(tenantId)).toMatchObject({ plan_id: 'unlimited', status: 'baseline' });
  });

  it('counts what all projects of the tenant use, and nothing of others', async () => {
    const tenantId = await api.makeTenant();
    const projects = await Promise.all([1, 2].map(() => api.makeProject(tenantId)));
    await api.call('POST', `/admin/v1/tenants/${tenantId}/projects`, { name: 'x', kind: 'development' });
    const rule = {
      measure: 'quantity',
      selector_type: 'all',
      selector_value: '',
      period: 'day',
      limit_amount: '5',
      action: 'notify',
    };
    for (const projectId of projects) {
      const url = `/v1/projects/${projectId}`;
      const rules = ['a', 'b'].map((limitKey) => ({ ...rule, limit_key: limitKey }));
      await api.call('POST', `${url}/usage-limit-plans`, { name: 'p', title: 'P', rules });
      const subject = { subject_type: 'user', subject_id: '1' };
      const route = (await api.call('POST', `${url}/subject-routes`, subject)).json();
      await api.call('POST', `${url}/subject-routes/${route.id}/limits`, { ...rule, limit_key: 'c' });
    }
    const counted = (events: number, month: string) =>
      api.postgres.pool.query(
        'insert into event_quotas (tenant_id, month_start, used) values ($1, extract(epoch from $3::timestamptz)::bigint, $2)',
        [tenantId, events, `${month}-01T00:00:00Z`],
      );
    await Promise.all([counted(12, '2026-01'), counted(7, '2026-02')]);
    expect((await entitlementOf(tenantId)).usage).toEqual({
      events_this_month: 12,
      development_projects: 1,
      release_projects: 2,
      subject_routes: 2,
      usage_controls: 6,
    });
    api.goTo('2026-02-01T00:00:00Z');
    expect((await entitlementOf(tenantId)).usage.events_this_month).toBe(7);
    api.goTo('2026-03-01T00:00:00Z');
    expect((await entitlementOf(tenantId)).usage.events_this_month).toBe(0);
  });

  it('needs a key; the service key asks by tenant', async () => {
    const anonymous = await api.app.inject({ method: 'GET', url: '/v1/entitlement' });
    expect([anonymous.statusCode, anonymous.json().code]).toEqual([401, 'unauthenticated']);
    const service = await api.call('GET', '/v1/entitlement');
    expect([service.status, service.json().code]).toEqual([400, 'invalid_request']);
    expect(service.json().error).toContain('/admin/v1/tenants/:tenant_id/entitlement');
  });

  it("of a tenant is for its administrators: another's looks like an absent one", async () => {
    const tenantId = await api.makeTenant();
    const url = `/admin/v1/tenants/${tenantId}/entitlement`;
    const admin = await api.makeKey(tenantId, ['tenant:admin']);
    const reader = await api.makeKey(tenantId, ['billing:read']);
    const stranger = await api.makeKey(await api.makeTenant(), ['tenant:admin']);
    expect((await api.call('GET', url, undefined, admin)).status).toBe(200);
    expect((await api.call('GET', url, undefined, reader)).json().code).toBe('permission_denied');
    const foreign = await api.call('GET', url, undefined, stranger);
    const absent = await api.call('GET', '/admin/v1/tenants/ten_none/entitlement');
    expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
    expect(absent.json().code).toBe('not_found');
  });
});

describe('a node whose baseline is none', () => {
  it('shows that no events are accepted, and lets tenants set themselves up', async () => {
    const none = await createCatalogApi('none');
    try {
      const { tenantId } = none;
      await none.makeProject(tenantId);
      const key = await none.makeKey(tenantId, ['usage:read']);
      expect((await none.call('GET', '/v1/entitlement', undefined, key)).json()).toMatchObject({
        plan_id: 'none',
        status: 'baseline',
        monthly_event_limit: 0,
        max_release_projects: -1,
      });
      await none.grant(tenantId, 'growth');
      expect((await none.call('GET', '/v1/entitlement', undefined, key)).json()).toMatchObject({
        plan_id: 'growth',
        status: 'active',
      });
    } finally {
      await none.close();
    }
  });
});
