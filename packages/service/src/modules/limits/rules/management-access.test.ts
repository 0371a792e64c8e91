import { PERMISSIONS } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementApi, type ManagementApi, ruleOf } from './management.testing.js';

let api: ManagementApi;
beforeAll(async () => {
  api = await createManagementApi();
});
afterAll(() => api.close());

const plan = '/usage-limit-plans/:plan';
const route = '/subject-routes/:route';
const limit = `${route}/limits/:limit`;

/** Method, path, body, and the least permission that suffices. */
const operations = [
  ['GET', '/usage-limit-plans', undefined, 'write'],
  ['POST', '/usage-limit-plans', { name: 'access', title: 'x' }, 'write'],
  ['GET', plan, undefined, 'read'],
  ['GET', `${plan}/versions`, undefined, 'read'],
  ['PUT', plan, {}, 'write'],
  ['POST', `${plan}/publish`, undefined, 'write'],
  ['POST', `${plan}/archive`, undefined, 'write'],
  ['POST', `${plan}/restore`, undefined, 'write'],
  ['GET', '/subject-routes', undefined, 'read'],
  ['POST', '/subject-routes', { subject_type: 'access', subject_id: 'x' }, 'write'],
  ['GET', route, undefined, 'read'],
  ['PUT', route, {}, 'write'],
  ['DELETE', route, undefined, 'write'],
  ['GET', `${route}/limits`, undefined, 'read'],
  ['POST', `${route}/limits`, ruleOf({ limit_key: 'new' }), 'write'],
  ['GET', limit, undefined, 'read'],
  ['PUT', limit, {}, 'write'],
  ['DELETE', limit, undefined, 'write'],
] as const;

type Ids = Readonly<Record<'plan' | 'route' | 'limit', string>>;

const ABSENT: Ids = { plan: 'ulp_none', route: 'ra_none', limit: 'racl_none' };

async function make(): Promise<Ids> {
  const { id } = await api.makeRoute();
  const direct = await api.must(201, 'POST', `/subject-routes/${id}/limits`, ruleOf());
  return { plan: await api.makePlan([], false), route: id, limit: direct.id };
}

const at = (path: string, ids: Ids) =>
  path.replace(/:(plan|route|limit)/g, (_, name: keyof Ids) => ids[name]);

describe('who may do what', () => {
  it.each(operations)('%s %s', async (method, path, body, needed) => {
    const target = api.url + at(path, await make());
    const others = PERMISSIONS.filter((name) => !name.startsWith('usage_control') && name !== 'tenant:admin');
    const stranger = await api.makeKey(await api.makeTenant(), ['tenant:admin']);
    const weak = await api.makeKey(
      api.tenantId,
      needed === 'read' ? others : [...others, 'usage_control:read'],
    );
    const enough = await api.makeKey(api.tenantId, [`usage_control:${needed}`]);
    expect((await api.call(method, target, body, 'nonsense')).status).toBe(401);
    expect((await api.call(method, target, body, weak)).status).toBe(403);
    expect((await api.call(method, target, body, stranger)).status).toBe(404);
    expect((await api.call(method, target, body, enough)).status).toBeLessThan(300);
  });
});

describe("another tenant's are byte for byte absent ones", () => {
  it.each(operations.filter(([, path]) => path.includes(':')))('%s %s', async (method, path, body) => {
    const own = await make();
    const other = await api.makeTenant();
    const url = `/v1/projects/${await api.makeProject(other)}`;
    const key = await api.makeKey(other, ['tenant:admin']);
    const foreign = await api.call(method, url + at(path, own), body, key);
    const absent = await api.call(method, url + at(path, ABSENT), body, key);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(absent.text);
    for (const untouched of [plan, route, limit]) await api.must(200, 'GET', at(untouched, own));
  });

  it('no list shows them', async () => {
    await make();
    const url = `/v1/projects/${await api.makeProject(await api.makeTenant())}`;
    for (const list of ['/usage-limit-plans', '/subject-routes']) {
      expect((await api.call('GET', url + list)).json().total_count).toBe(0);
    }
  });
});
