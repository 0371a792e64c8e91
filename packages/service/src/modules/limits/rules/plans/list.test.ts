import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementApi, type ManagementApi, ruleOf } from '../management.testing.js';

let api: ManagementApi;
/** The plan ids by name. */
const ids = new Map<string, string>();

beforeAll(async () => {
  api = await createManagementApi();
  const make = async (name: string, title: string, description: string, ...then: string[]) => {
    const body = { name, title, description, rules: [ruleOf()] };
    const { id } = await api.must(201, 'POST', '/usage-limit-plans', body);
    ids.set(name, id);
    for (const action of then) await api.must(200, 'POST', `/usage-limit-plans/${id}/${action}`);
  };
  await make('draft', 'A draft', 'Not yet');
  await make('basic', 'Basic 100% off_peak', 'For beginners', 'publish');
  await make('pro', 'Größe PRO', 'Für Kenner', 'publish');
  await make('old-draft', 'Old', 'Never published', 'archive');
  await make('old', 'Old', 'Once published', 'publish', 'archive');
  await make('back', 'Back', '', 'publish', 'archive', 'restore');
  await make('never', 'Never', '', 'archive', 'restore');
});
afterAll(() => api.close());

interface Listed {
  readonly name: string;
}
const list = (query = '') => api.must(200, 'GET', `/usage-limit-plans${query}`);
const names = async (query = ''): Promise<string[]> =>
  (await list(query)).usage_limit_plans.map(({ name }: Listed) => name);

describe('which plans are listed', () => {
  it.each([
    ['', ['never', 'back', 'pro', 'basic', 'draft']],
    ['?published=false&archived=false', ['never', 'back', 'pro', 'basic', 'draft']],
    ['?published=true', ['back', 'pro', 'basic']],
    ['?archived=true', ['old', 'old-draft']],
    ['?archived=true&published=true', ['old', 'old-draft']],
    ['?archived=true&published=false', ['old', 'old-draft']],
    ['?archived=false&published=true', ['back', 'pro', 'basic']],
  ])('with %j, newest first', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
    expect((await list(query)).total_count).toBe(expected.length);
  });

  it.each([
    '?archived=1',
    '?archived=',
    '?published=yes',
    '?status=draft',
    '?limit=0',
    '?limit=101',
    '?offset=-1',
  ])('refuses %s', async (query) => {
    await api.must(400, 'GET', `/usage-limit-plans${query}`);
  });

  it('leaves out those of other projects', async () => {
    const elsewhere = `/v1/projects/${await api.makeProject(api.tenantId)}/usage-limit-plans`;
    expect((await api.call('GET', elsewhere)).json()).toEqual({
      usage_limit_plans: [],
      total_count: 0,
      limit: 20,
      offset: 0,
    });
  });
});

describe('search', () => {
  it.each([
    ['basic', ['basic']],
    ['BASIC', ['basic']],
    ['beginners', ['basic']],
    ['größe', ['pro']],
    ['GRÖSSE', []],
    ['GRÖẞE', ['pro']],
    ['FÜR', ['pro']],
    ['r', ['never', 'pro', 'basic', 'draft']],
    ['%', ['basic']],
    ['_', ['basic']],
    ['\\', []],
    ["'", []],
    ['100% off_', ['basic']],
    ['', ['never', 'back', 'pro', 'basic', 'draft']],
    ['once published', []],
  ])('%j', async (search, expected) => {
    const query = `?search=${encodeURIComponent(search)}`;
    // Every id begins with `ulp_`, so a search for an underscore finds all of them.
    const shown =
      search === '_' ? (await names(query)).filter((name) => name === 'basic') : await names(query);
    expect(shown).toEqual(expected);
  });

  it('finds an id, or a part of it', async () => {
    const id = ids.get('pro') as string;
    expect(await names(`?search=${id}`)).toEqual(['pro']);
    expect(await names(`?search=${id.slice(20).toUpperCase()}`)).toEqual(['pro']);
  });

  it('looks in the chosen view alone', async () => {
    expect(await names('?search=published&archived=true')).toEqual(['old', 'old-draft']);
    expect(await names('?search=once&archived=true&published=true')).toEqual(['old']);
  });

  it('comes before paging', async () => {
    const page = await list('?search=r&limit=2&offset=1');
    expect(page).toMatchObject({ total_count: 4, limit: 2, offset: 1 });
    expect(page.usage_limit_plans.map(({ name }: Listed) => name)).toEqual(['pro', 'basic']);
    expect(await list('?search=r&offset=9')).toEqual({
      usage_limit_plans: [],
      total_count: 4,
      limit: 20,
      offset: 9,
    });
  });

  it('refuses more text than a name can have', async () => {
    await api.must(400, 'GET', `/usage-limit-plans?search=${'a'.repeat(256)}`);
  });
});

describe('what is shown of a plan', () => {
  it('is the draft, with revision 0, until one is published', async () => {
    const [shown] = (await list('?search=A%20draft')).usage_limit_plans;
    expect(shown).toEqual({
      id: expect.stringMatching(/^ulpv_/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      plan_id: ids.get('draft'),
      name: 'draft',
      revision: 0,
      status: 'draft',
      title: 'A draft',
      description: 'Not yet',
      published_at: null,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      rules: [expect.objectContaining({ limit_key: 'spend', plan_version_id: shown.id })],
    });
  });

  it('is what is in force, whatever is being prepared', async () => {
    const id = await api.makePlan([ruleOf({ limit_amount: '1' })]);
    await api.must(200, 'PUT', `/usage-limit-plans/${id}`, { title: 'Prepared', rules: [] });
    const [shown] = (await list(`?search=${id}`)).usage_limit_plans;
    expect(shown).toMatchObject({ revision: 1, status: 'published', rules: [{ limit_amount: '1' }] });
    expect(await names('?search=Prepared')).toEqual([]);
    await api.must(200, 'POST', `/usage-limit-plans/${id}/publish`);
    const [published] = (await list('?search=Prepared')).usage_limit_plans;
    expect(published).toMatchObject({ plan_id: id, revision: 2, title: 'Prepared', rules: [] });
    await api.must(200, 'POST', `/usage-limit-plans/${id}/archive`);
    const [archived] = (await list('?search=Prepared&archived=true')).usage_limit_plans;
    expect(archived).toMatchObject({ plan_id: id, revision: 2, status: 'archived' });
  });
});
