import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CatalogApi, createCatalogApi } from './catalog.testing.js';

let api: CatalogApi;
let tenantId: string;
let url: string;

beforeAll(async () => {
  api = await createCatalogApi();
  api.goTo('2026-01-31T12:00:00Z');
});
beforeEach(async () => {
  tenantId = await api.makeTenant();
  url = `/admin/v1/tenants/${tenantId}/grants`;
});
afterAll(() => api.close());

const START = Date.parse('2026-01-31T12:00:00Z') / 1_000;
const END = Date.parse('2026-02-28T12:00:00Z') / 1_000;
const grant = (planId: string, key: string) =>
  api.call('POST', url, { plan_id: planId }, undefined, { 'idempotency-key': key });

describe('POST grants', () => {
  it('grants a plan that is not sold, and says so in the audit log', async () => {
    const answer = await grant('enterprise', 'contract-7');
    const made = {
      id: answer.json().id,
      tenant_id: tenantId,
      plan_id: 'enterprise',
      revision: 1,
      starts_at: START,
      ends_at: END,
      ended_at: null,
      source: `operator:${tenantId}:contract-7`,
      created_at: START,
    };
    expect([answer.status, answer.json()]).toEqual([201, made]);
    const entitlement = await api.call('GET', `/admin/v1/tenants/${tenantId}/entitlement`);
    expect(entitlement.json()).toMatchObject({ plan_id: 'enterprise', status: 'active', ends_at: END });
    const log = (await api.call('GET', `/admin/v1/tenants/${tenantId}/audit-log`)).json();
    expect(log.entries[0]).toMatchObject({
      actor: 'service',
      action: 'entitlement_grant.create',
      resource_id: made.id,
      change: { plan_id: 'enterprise', revision: 1, starts_at: START, ends_at: END },
    });
  });

  it('with the same key grants once; another plan is a conflict, another tenant has keys of its own', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => grant('launch', 'once')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const conflict = await grant('growth', 'once');
    expect([conflict.status, conflict.json().code]).toEqual([409, 'idempotency_key_conflict']);
    const log = (await api.call('GET', `/admin/v1/tenants/${tenantId}/audit-log`)).json();
    expect(
      log.entries.filter(({ action }: { action: string }) => action.startsWith('entitlement')),
    ).toHaveLength(1);
    tenantId = await api.makeTenant();
    url = `/admin/v1/tenants/${tenantId}/grants`;
    expect((await grant('growth', 'once')).json()).toMatchObject({ tenant_id: tenantId, plan_id: 'growth' });
  });

  it('refuses an unknown plan, a missing key, and everybody but the operator', async () => {
    const unknown = await grant('platinum', 'k');
    expect([unknown.status, unknown.json().details]).toEqual([
      400,
      [{ path: 'plan_id', message: 'expected a subscription plan of the catalog' }],
    ]);
    for (const keys of [{}, { 'idempotency-key': '' }, { 'idempotency-key': 'x'.repeat(256) }]) {
      const answer = await api.call('POST', url, { plan_id: 'launch' }, undefined, keys);
      expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
    }
    const admin = await api.makeKey(tenantId, ['tenant:admin']);
    const own = await api.call('POST', url, { plan_id: 'launch' }, admin, { 'idempotency-key': 'k' });
    expect([own.status, own.json().code]).toEqual([403, 'permission_denied']);
    url = '/admin/v1/tenants/ten_none/grants';
    expect((await grant('launch', 'k')).json().code).toBe('not_found');
  });
});

describe('GET grants', () => {
  it('lists those that are over, in force and to come, for the administrators of the tenant', async () => {
    for (const [planId, key] of [
      ['launch', 'a'],
      ['launch', 'b'],
      ['growth', 'c'],
    ] as const) {
      await grant(planId, key);
    }
    const admin = await api.makeKey(tenantId, ['tenant:admin']);
    const listed = (await api.call('GET', url, undefined, admin)).json();
    expect(listed).toMatchObject({ total_count: 3, limit: 20, offset: 0 });
    expect(
      listed.grants.map((each: Record<string, unknown>) => [each.plan_id, each.starts_at, each.ended_at]),
    ).toEqual([
      ['launch', END, START],
      ['growth', START, null],
      ['launch', START, START],
    ]);
    const second = (await api.call('GET', `${url}?limit=1&offset=1`, undefined, admin)).json();
    expect(second.grants).toEqual([listed.grants[1]]);
    const stranger = await api.makeKey(await api.makeTenant(), ['tenant:admin']);
    expect((await api.call('GET', url, undefined, stranger)).json().code).toBe('not_found');
  });
});
