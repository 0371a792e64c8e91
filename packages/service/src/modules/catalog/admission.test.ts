import type { LimitRuleInput } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../testing/api.js';
import { applyCatalog } from './apply.js';
import { type CatalogApi, createCatalogApi } from './catalog.testing.js';
import { newestPlan } from './plan-store.js';

let api: CatalogApi;
/** A tenant whose plan has 2 routes and 5 controls, with two projects. */
let tenantId: string;
let projects: readonly [string, string];

beforeAll(async () => {
  api = await createCatalogApi();
  const launch = await newestPlan(api.postgres.db, 'launch');
  if (launch === undefined) throw new Error('no plan');
  const { revision, status, ...offer } = launch;
  const tiny = { ...offer, id: 'tiny', max_subject_routes: 2, max_usage_controls: 5 };
  await applyCatalog(api, { plans: [{ ...tiny, max_release_projects: 2 }] });
});
beforeEach(async () => {
  tenantId = await api.makeTenant();
  await api.grant(tenantId, 'tiny');
  projects = [await api.makeProject(tenantId), await api.makeProject(tenantId)];
});
afterAll(() => api.close());

const createProject = (tenant: string, kind: string) =>
  api.call('POST', `/admin/v1/tenants/${tenant}/projects`, { name: 'x', kind });

function expectReached(answer: Answer, plan: string, path: string, message: string): void {
  expect([answer.status, answer.json()]).toEqual([
    403,
    {
      error: `The subscription plan ${plan} does not allow this: ${path} ${message}.`,
      code: 'entitlement_limit_reached',
      details: [{ path, message }],
    },
  ]);
}

function rules(count: number): LimitRuleInput[] {
  return Array.from({ length: count }, (_, index) => ({
    limit_key: `k${index}`,
    measure: 'quantity',
    selector_type: 'all',
    selector_value: '',
    period: 'day',
    limit_amount: '5',
    action: 'notify',
  }));
}

describe('projects', () => {
  it('are counted by kind, and refused past the limit of theirs', async () => {
    const tenant = await api.makeTenant();
    await api.grant(tenant, 'launch');
    expect((await createProject(tenant, 'release')).status).toBe(201);
    expectReached(
      await createProject(tenant, 'release'),
      'launch',
      'max_release_projects',
      'allows 1; 1 used',
    );
    for (let n = 0; n < 3; n += 1) expect((await createProject(tenant, 'development')).status).toBe(201);
    expectReached(
      await createProject(tenant, 'development'),
      'launch',
      'max_development_projects',
      'allows 3; 3 used',
    );
  });

  it('are given to no more than there is room for, of those who ask at once', async () => {
    const tenant = await api.makeTenant();
    await api.grant(tenant, 'launch');
    const kinds = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? 'release' : 'development'));
    const answers = await Promise.all(kinds.map((kind) => createProject(tenant, kind)));
    const made = answers.filter(({ status }) => status === 201).map((answer) => answer.json().kind);
    expect(made.sort()).toEqual(['development', 'development', 'development', 'release']);
    const { rows } = await api.postgres.pool.query(
      'select kind, count(*) as n from projects where tenant_id = $1 group by kind order by kind',
      [tenant],
    );
    expect(rows).toEqual([
      { kind: 'development', n: 3 },
      { kind: 'release', n: 1 },
    ]);
  });

  it('stay when a plan allows fewer; only new ones are refused, until it has ended', async () => {
    const tenant = await api.makeTenant();
    for (let n = 0; n < 3; n += 1) await createProject(tenant, 'release');
    const { endsAt } = await api.grant(tenant, 'launch');
    expectReached(
      await createProject(tenant, 'release'),
      'launch',
      'max_release_projects',
      'allows 1; 3 used',
    );
    const listed = await api.call('GET', `/admin/v1/tenants/${tenant}/projects`);
    expect(listed.json().total_count).toBe(3);
    const nowMs = api.clock.nowMs();
    api.clock.advanceMs(endsAt * 1_000 - nowMs);
    expect((await createProject(tenant, 'release')).status).toBe(201);
    api.clock.advanceMs(nowMs - endsAt * 1_000);
  });

  it('of kind release are kept apart where the plan says so, from then on', async () => {
    const tenant = await api.makeTenant();
    const storageOf = async (kind: string) => (await createProject(tenant, kind)).json().storage;
    expect(await storageOf('release')).toBe('shared');
    await api.grant(tenant, 'scale');
    expect([await storageOf('release'), await storageOf('development')]).toEqual(['dedicated', 'shared']);
    const listed = await api.call('GET', `/admin/v1/tenants/${tenant}/projects`);
    expect(listed.json().projects.map(({ storage }: { storage: string }) => storage)).toEqual([
      'shared',
      'dedicated',
      'shared',
    ]);
  });
});

describe('subject routes', () => {
  const createRoute = (projectId: string, subjectId: string) =>
    api.call('POST', `/v1/projects/${projectId}/subject-routes`, {
      subject_type: 'user',
      subject_id: subjectId,
    });

  it('are counted over all projects, and make room when they are deleted', async () => {
    const [first, second] = projects;
    const { id } = (await createRoute(first, '1')).json();
    expect((await createRoute(second, '1')).status).toBe(201);
    expectReached(await createRoute(second, '2'), 'tiny', 'max_subject_routes', 'allows 2; 2 used');
    await api.call('DELETE', `/v1/projects/${first}/subject-routes/${id}`);
    expect((await createRoute(second, '2')).status).toBe(201);
  });

  it('are given to no more than there is room for, of those who ask in any project at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => createRoute(projects[n % 2] as string, String(n))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(8);
    // The refused request left nothing behind, not even an account.
    const { rows } = await api.postgres.pool.query(
      'select count(*) as n from accounts where tenant_id = $1',
      [tenantId],
    );
    expect(rows[0].n).toBe(2);
  });
});

describe('usage controls', () => {
  const plans = (projectId: string) => `/v1/projects/${projectId}/usage-limit-plans`;
  const createPlan = (projectId: string, name: string, count: number) =>
    api.call('POST', plans(projectId), { name, title: name, rules: rules(count) });
  const put = (id: string, count: number) =>
    api.call('PUT', `${plans(projects[0])}/${id}`, { rules: rules(count) });
  const post = (id: string, verb: string) => api.call('POST', `${plans(projects[0])}/${id}/${verb}`);
  const used = async () =>
    (await api.call('GET', `/admin/v1/tenants/${tenantId}/entitlement`)).json().usage.usage_controls;

  it('are direct limits and plan rules of all projects', async () => {
    const [first, second] = projects;
    expect((await createPlan(first, 'a', 4)).status).toBe(201);
    expectReached(
      await createPlan(second, 'b', 2),
      'tiny',
      'max_usage_controls',
      'allows 5; 4 used, 2 more requested',
    );
    const route = await api.call('POST', `/v1/projects/${second}/subject-routes`, {
      subject_type: 'user',
      subject_id: '1',
    });
    const limits = `/v1/projects/${second}/subject-routes/${route.json().id}/limits`;
    const [one, two] = rules(2);
    expect((await api.call('POST', limits, one)).status).toBe(201);
    expectReached(await api.call('POST', limits, two), 'tiny', 'max_usage_controls', 'allows 5; 5 used');
    expect((await createPlan(second, 'empty', 0)).status).toBe(201);
    expect(await used()).toBe(5);
  });

  it('of a plan are those of its newest revision or its draft, whichever has more', async () => {
    const { id } = (await createPlan(projects[0], 'a', 3)).json();
    expect((await post(id, 'publish')).status).toBe(200);
    expect((await put(id, 5)).status).toBe(200);
    expect(await used()).toBe(5);
    expectReached(await put(id, 6), 'tiny', 'max_usage_controls', 'allows 5; 5 used');
    expect((await put(id, 1)).status).toBe(200);
    expect(await used()).toBe(3);
    expect((await post(id, 'publish')).status).toBe(200);
    expect(await used()).toBe(1);
  });

  it('of an archived plan do not count, unless a route is bound to it; restoring needs room', async () => {
    const { id } = (await createPlan(projects[0], 'a', 4)).json();
    await post(id, 'publish');
    await post(id, 'archive');
    expect(await used()).toBe(0);
    const other = (await createPlan(projects[0], 'b', 3)).json();
    expectReached(
      await post(id, 'restore'),
      'tiny',
      'max_usage_controls',
      'allows 5; 3 used, 4 more requested',
    );
    await put(other.id, 1);
    expect((await post(id, 'restore')).status).toBe(200);
    await api.call('POST', `/v1/projects/${projects[0]}/subject-routes`, {
      subject_type: 'user',
      subject_id: '1',
      usage_limit_plan_id: id,
    });
    await post(id, 'archive');
    expect(await used()).toBe(5);
    expectReached(await createPlan(projects[1], 'c', 1), 'tiny', 'max_usage_controls', 'allows 5; 5 used');
    expect((await post(id, 'restore')).status).toBe(200);
  });

  it('stay when a plan allows fewer, and may become fewer themselves', async () => {
    const tenant = tenantId;
    await api.grant(tenant, 'growth');
    const { id } = (await createPlan(projects[0], 'a', 9)).json();
    await api.grant(tenant, 'tiny');
    expect((await put(id, 8)).status).toBe(200);
    expect((await put(id, 8)).status).toBe(200);
    expectReached(await put(id, 9), 'tiny', 'max_usage_controls', 'allows 5; 8 used');
    expect((await post(id, 'publish')).status).toBe(200);
  });

  it('are given to no more than there is room for, of those who ask in any project at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => createPlan(projects[n % 2] as string, `p${n}`, 2)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(await used()).toBe(4);
  });
});

describe('budget leases', () => {
  const createLease = (projectId: string) =>
    api.call('POST', `/v1/projects/${projectId}/budget-leases`, {
      subject_type: 'user',
      subject_id: '1',
      amount: '1',
      currency: 'USD',
      ttl_seconds: 60,
    });

  it('need a plan with budgets; those that there are can be closed without', async () => {
    const [projectId] = projects;
    expectReached(await createLease(projectId), 'tiny', 'features.budgets', 'is off');
    await api.grant(tenantId, 'growth');
    const lease = await createLease(projectId);
    expect(lease.status).toBe(201);
    await api.grant(tenantId, 'launch');
    expectReached(await createLease(projectId), 'launch', 'features.budgets', 'is off');
    const url = `/v1/projects/${projectId}/budget-leases/${lease.json().id}`;
    expect((await api.call('POST', `${url}/close`)).json().status).toBe('closed');
  });
});
