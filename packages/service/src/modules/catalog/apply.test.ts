import type { CatalogOffer } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGuide } from '../../testing/guide.js';
import { type CatalogApi, createCatalogApi } from './catalog.testing.js';
import { newestPlans } from './plan-store.js';

let api: CatalogApi;
beforeAll(async () => {
  api = await createCatalogApi();
});
afterAll(() => api.close());

async function offers(): Promise<Map<string, CatalogOffer>> {
  const plans = await newestPlans(api.postgres.db);
  return new Map(plans.map(({ revision, status, ...offer }) => [offer.id, offer]));
}

async function offer(id: string): Promise<CatalogOffer> {
  const found = (await offers()).get(id);
  if (found === undefined) throw new Error(`there is no plan ${id}`);
  return found;
}

const apply = (plans: unknown, key?: string) =>
  api.call('POST', '/admin/v1/catalog/apply', { plans } as object, key);

async function revisions(): Promise<Record<string, number>> {
  return Object.fromEntries((await newestPlans(api.postgres.db)).map(({ id, revision }) => [id, revision]));
}

describe('applying a catalog', () => {
  it('that is in force already changes nothing', async () => {
    const before = await revisions();
    const answer = await apply([...(await offers()).values()]);
    expect([answer.status, answer.json()]).toEqual([
      200,
      { changed: [], unchanged: ['launch', 'growth', 'scale', 'enterprise'] },
    ]);
    expect(await revisions()).toEqual(before);
  });

  it('adds a revision of what changed, and of what is new; twice is once', async () => {
    const launch = await offer('launch');
    const plans = [
      { ...launch, retention_days: 120, features: { budgets: true, boards: true } },
      await offer('growth'),
      { ...launch, id: 'team', display_name: 'Team' },
    ];
    expect((await apply(plans)).json()).toEqual({
      changed: [
        { id: 'launch', revision: 2 },
        { id: 'team', revision: 1 },
      ],
      unchanged: ['growth'],
    });
    const sameInAnotherOrder = plans.map((plan) =>
      Object.fromEntries(Object.entries({ ...plan, features: { ...plan.features } }).reverse()),
    );
    expect((await apply(sameInAnotherOrder)).json()).toEqual({
      changed: [],
      unchanged: ['launch', 'growth', 'team'],
    });
    const listed = (await api.app.inject({ method: 'GET', url: '/v1/plans' })).json().plans;
    expect(listed.find(({ id }: { id: string }) => id === 'launch')).toMatchObject({
      revision: 2,
      retention_days: 120,
      features: { budgets: true, boards: true },
    });
    expect(await revisions()).toEqual({ launch: 2, team: 1, growth: 1, scale: 1, enterprise: 1 });
  });

  it('at once adds revisions one after the other', async () => {
    const scale = await offer('scale');
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => apply([{ ...scale, amount_minor: scale.amount_minor + n }])),
    );
    const added = answers.map((answer) => answer.json().changed[0].revision);
    expect(added.sort()).toEqual([2, 3, 4, 5]);
  });

  const bad: [string, (plan: CatalogOffer) => unknown, string, string][] = [
    ['an unknown field', (plan) => [{ ...plan, price: 1 }], 'plans[0].price', 'unknown field'],
    ['a revision', (plan) => [{ ...plan, revision: 7 }], 'plans[0].revision', 'unknown field'],
    ['no plans', () => [], 'plans', 'expected at least 1 entry'],
    ['a missing field', ({ retention_days, ...plan }) => [plan], 'plans[0].retention_days', 'is required'],
    [
      'a limit below -1',
      (plan) => [{ ...plan, max_subject_routes: -2 }],
      'plans[0].max_subject_routes',
      'expected at least -1',
    ],
    [
      'a price with a fraction',
      (plan) => [{ ...plan, amount_minor: 19.5 }],
      'plans[0].amount_minor',
      'expected an integer',
    ],
    [
      'a number as text',
      (plan) => [{ ...plan, amount_minor: '1900' }],
      'plans[0].amount_minor',
      'expected an integer',
    ],
    [
      'a price that nobody can pay at once',
      (plan) => [{ ...plan, amount_minor: 100_000_000 }],
      'plans[0].amount_minor',
      'expected at most 99999999',
    ],
    [
      'a unit that is no currency',
      (plan) => [{ ...plan, currency: 'TOKENS' }],
      'plans[0].currency',
      'expected text that matches ^[A-Z]{3}$',
    ],
    ['another period', (plan) => [{ ...plan, period: 'year' }], 'plans[0].period', 'expected "month"'],
    [
      'a feature that is no flag',
      (plan) => [{ ...plan, features: { budgets: 1 } }],
      'plans[0].features.budgets',
      'expected a boolean',
    ],
    [
      'a retention of no days',
      (plan) => [{ ...plan, retention_days: 0 }],
      'plans[0].retention_days',
      'expected at least 1, or -1',
    ],
    ['a plan twice', (plan) => [plan, plan], 'plans[1].id', 'plans[0] has the same id'],
    [
      'the name of a baseline',
      (plan) => [{ ...plan, id: 'unlimited' }],
      'plans[0].id',
      'unlimited is reserved for tenants without a plan',
    ],
    [
      'a window that ends in the past',
      (plan) => [{ ...plan, release_project_usage_storage_dynamic_partition_end: -1 }],
      'plans[0].release_project_usage_storage_dynamic_partition_end',
      'expected at least 0',
    ],
  ];
  it.each(bad)('refuses %s, and keeps everything as it was', async (_what, plansOf, path, message) => {
    const before = await revisions();
    const answer = await apply(plansOf({ ...(await offer('growth')), amount_minor: 1 }));
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
    expect(answer.json().details).toContainEqual({ path, message });
    expect(await revisions()).toEqual(before);
  });

  it('is for the service key alone', async () => {
    const key = await api.makeKey(api.tenantId, ['tenant:admin']);
    const answer = await apply([await offer('growth')], key);
    expect([answer.status, answer.json().code]).toEqual([403, 'permission_denied']);
  });
});

describe('the guide to plans', () => {
  it('shows a file that can be applied', async () => {
    const [file] = readGuide('plans').blocks('json');
    const answer = await api.call('POST', '/admin/v1/catalog/apply', file);
    expect([answer.status, answer.json().changed]).toEqual([200, [{ id: 'starter', revision: 1 }]]);
  });
});
