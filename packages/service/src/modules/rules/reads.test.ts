import type { ExtractorRuleSet } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { createRuleSets, registerRuleSetRoutes } from './index.js';

let api: TestApi;
let url: string;

let published: string;
let reopened: string;

beforeAll(async () => {
  api = await createTestApi((app, stores) => registerRuleSetRoutes(app, createRuleSets(stores)));
  url = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  await make({ name: 'draft' });
  published = await make({ name: 'published' }, 'publish');
  reopened = await make({ name: 'first' }, 'publish');
  await api.call('PUT', `${url}/${reopened}`, { name: 'second' });
  await make({ name: 'archived' }, 'publish', 'archive');
});
afterAll(() => api.close());

async function make(body: object, ...steps: string[]): Promise<string> {
  const { id } = (await api.call('POST', url, body)).json();
  for (const step of steps) await api.call('POST', `${url}/${id}/${step}`);
  api.clock.advanceMs(1_000);
  return id;
}

async function list(query = ''): Promise<{ page: Record<string, unknown>; shown: string[] }> {
  const answer = await api.call('GET', `${url}${query}`);
  expect(answer.status, answer.text).toBe(200);
  const { extractor_rule_sets: ruleSets, ...page } = answer.json();
  const shown = ruleSets.map((each: ExtractorRuleSet) => `${each.name} ${each.version} ${each.status}`);
  return { page, shown };
}

describe('list', () => {
  it('shows the newest version of every rule set, newest first', async () => {
    expect(await list()).toEqual({
      page: { total_count: 4, limit: 20, offset: 0 },
      shown: ['archived 1 archived', 'second 2 draft', 'published 1 published', 'draft 1 draft'],
    });
  });

  it.each([
    ['draft', ['second 2 draft', 'draft 1 draft']],
    ['published', ['first 1 published', 'published 1 published']],
    ['archived', ['archived 1 archived']],
  ])('with ?status=%s, shows the newest version of that status', async (status, shown) => {
    const listed = await list(`?status=${status}`);
    expect(listed).toEqual({ page: { total_count: shown.length, limit: 20, offset: 0 }, shown });
  });

  it('pages, and counts the whole list past its end too', async () => {
    expect(await list('?limit=2&offset=1')).toEqual({
      page: { total_count: 4, limit: 2, offset: 1 },
      shown: ['second 2 draft', 'published 1 published'],
    });
    expect(await list('?offset=9')).toEqual({ page: { total_count: 4, limit: 20, offset: 9 }, shown: [] });
  });

  it.each(['?limit=0', '?limit=101', '?offset=-1', '?status=live', '?limit=x', '?sort=name'])(
    'refuses %s',
    async (query) => {
      expect((await api.call('GET', url + query)).status).toBe(400);
    },
  );
});

describe('read', () => {
  it('shows the newest version, or the one that is asked for', async () => {
    const newest = (await api.call('GET', `${url}/${reopened}`)).json();
    expect(newest).toMatchObject({ id: reopened, version: 2, status: 'draft', name: 'second' });
    const first = (await api.call('GET', `${url}/${reopened}?version=1`)).json();
    expect(first).toMatchObject({ id: reopened, version: 1, status: 'published', name: 'first' });
    expect(first.created_at).toBe(TEST_NOW_S + 2);
  });

  it('refuses a version that does not exist', async () => {
    const absent = await api.call('GET', `${url}/${reopened}?version=3`);
    expect([absent.status, absent.json().code]).toEqual([404, 'rule_set_not_found']);
    for (const version of ['0', 'x', '1.5', '99999999999']) {
      expect((await api.call('GET', `${url}/${reopened}?version=${version}`)).status).toBe(400);
    }
  });

  it('lists versions, newest first', async () => {
    const { versions, ...page } = (await api.call('GET', `${url}/${reopened}/versions?limit=1`)).json();
    expect(page).toEqual({ total_count: 2, limit: 1, offset: 0 });
    expect(versions).toMatchObject([{ version: 2, name: 'second' }]);
    expect((await api.call('GET', `${url}/ers_none/versions`)).status).toBe(404);
    expect((await api.call('GET', `${url}/${reopened}/versions?limit=0`)).status).toBe(400);
  });
});

describe('access', () => {
  const routes = [
    ['GET', '', undefined, 'read'],
    ['GET', '/:id', undefined, 'read'],
    ['GET', '/:id/versions', undefined, 'read'],
    ['POST', '', {}, 'write'],
    ['PUT', '/:id', {}, 'write'],
    ['POST', '/:id/publish', undefined, 'write'],
    ['POST', '/:id/archive', undefined, 'write'],
  ] as const;

  it.each(routes)('of %s %s: 401, 403, 404', async (method, path, body, needed) => {
    const target = url + path.replace(':id', published);
    const stranger = await api.makeKey(await api.makeTenant(), ['tenant:admin']);
    const weak = await api.makeKey(api.tenantId, [needed === 'read' ? 'usage:ingest' : 'rules:read']);
    expect((await api.call(method, target, body, 'nonsense')).status).toBe(401);
    expect((await api.call(method, target, body, weak)).status).toBe(403);
    expect((await api.call(method, target, body, stranger)).status).toBe(404);
  });

  it.each(routes.filter(([, path]) => path !== ''))(
    'of %s %s: a rule set of another project is as absent as an unknown one',
    async (method, path, body) => {
      const otherUrl = `/v1/projects/${await api.makeProject(api.tenantId)}/extractor-rule-sets`;
      const foreign = await api.call(method, otherUrl + path.replace(':id', published), body);
      const absent = await api.call(method, otherUrl + path.replace(':id', 'ers_none'), body);
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(absent.text);
    },
  );
});
