import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../kernel/id.js';
import { TEST_NOW_S } from '../../testing/api.js';
import { TenancyFixture } from '../../testing/tenancy.js';

let node: Awaited<ReturnType<typeof TenancyFixture.start>>;
beforeAll(async () => {
  node = await TenancyFixture.start();
});
afterAll(() => node.stop());

describe('tenants', () => {
  test('are created, read and listed by the service key', async () => {
    const id = await node.makeTenant('Ünïcode & Co');
    const tenant = { id, name: 'Ünïcode & Co', created_at: TEST_NOW_S };
    expect((await node.call('GET', `/admin/v1/tenants/${id}`, node.serviceKey)).json()).toEqual(tenant);
    const list = (await node.call('GET', '/admin/v1/tenants?limit=100', node.serviceKey)).json();
    expect(list.tenants).toContainEqual(tenant);
    expect(list).toMatchObject({ total_count: list.tenants.length, limit: 100, offset: 0 });
  });

  test('a page past the end is empty and still has the whole count', async () => {
    await node.makeTenant();
    const list = (await node.call('GET', '/admin/v1/tenants?offset=10000', node.serviceKey)).json();
    expect(list).toMatchObject({ tenants: [], limit: 20, offset: 10_000 });
    expect(list.total_count).toBeGreaterThan(0);
  });

  test.each<[string, object, string]>([
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: ' \t' }, 'name'],
    ['a name that is too long', { name: 'x'.repeat(201) }, 'name'],
    ['no name', {}, 'name'],
    ['a name that is no text', { name: 7 }, 'name'],
    ['an unknown field', { name: 'x', id: 'ten_1' }, 'id'],
    ['NUL in a name', { name: 'a\0b' }, 'name'],
    ['a lone surrogate', { name: 'a\ud800' }, 'name'],
  ])('400: %s', async (_what, body, path) => {
    const refused = await node.call('POST', '/admin/v1/tenants', node.serviceKey, body);
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });

  test.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=1e1',
    'limit=',
    'offset=-1',
    'page=2',
    'limit=1&limit=2',
  ])('400: a list with ?%s', async (query) => {
    expect((await node.call('GET', `/admin/v1/tenants?${query}`, node.serviceKey)).status).toBe(400);
  });

  test('404: an absent tenant', async () => {
    const absent = await node.call('GET', `/admin/v1/tenants/${newId('ten', node.clock)}`, node.serviceKey);
    expect(absent.status).toBe(404);
    expect(absent.text).toBe('{"error":"The resource does not exist.","code":"not_found"}');
    expect((await node.call('GET', '/admin/v1/tenants/%00', node.serviceKey)).text).toBe(absent.text);
  });
});

describe('projects', () => {
  test('are created and listed; storage is shared', async () => {
    const tenantId = await node.makeTenant();
    const project = await node.makeProject(tenantId, 'development');
    expect(project).toEqual({
      id: expect.stringMatching(/^prj_[0-9a-f]{32}$/),
      tenant_id: tenantId,
      name: 'Chat',
      kind: 'development',
      storage: 'shared',
      created_at: TEST_NOW_S,
    });
    const list = await node.call('GET', `/admin/v1/tenants/${tenantId}/projects`, node.serviceKey);
    expect(list.json()).toEqual({ projects: [project], total_count: 1, limit: 20, offset: 0 });
  });

  test('a tenant administrator makes them too', async () => {
    const tenantId = await node.makeTenant();
    const { key } = await node.makeKey(tenantId, ['tenant:admin']);
    const url = `/admin/v1/tenants/${tenantId}/projects`;
    expect((await node.call('POST', url, key, { name: 'x', kind: 'release' })).status).toBe(201);
    expect((await node.call('GET', url, key)).json().total_count).toBe(1);
  });

  test.each([
    { name: 'x', kind: 'staging' },
    { name: 'x' },
    { name: 'x', kind: 'release', storage: 'dedicated' },
  ])('400: %j', async (body) => {
    const url = `/admin/v1/tenants/${await node.makeTenant()}/projects`;
    expect((await node.call('POST', url, node.serviceKey, body)).status).toBe(400);
  });

  test('404: in an absent tenant, read or written', async () => {
    const url = `/admin/v1/tenants/${newId('ten', node.clock)}/projects`;
    expect((await node.call('GET', url, node.serviceKey)).status).toBe(404);
    expect((await node.call('POST', url, node.serviceKey, { name: 'x', kind: 'release' })).status).toBe(404);
  });

  test('are found for routes, and only while they exist', async () => {
    const project = await node.makeProject(await node.makeTenant());
    const found = await node.tenancy.projects.resolveProject(project.id);
    expect(found).toMatchObject({ projectId: project.id, tenantId: project.tenant_id, kind: 'release' });
    expect(node.tenancy.projects.resolveProject(project.id)).toBe(found);
    expect(await node.tenancy.projects.resolveProject(newId('prj', node.clock))).toBeUndefined();
    expect(node.tenancy.projects.resolveProject("prj_' or 1=1")).toBeUndefined();
  });

  test('of another tenant are looked for like absent ones, although they are remembered', async () => {
    const [tenant, other] = [await node.makeTenant(), await node.makeTenant()];
    const foreign = (await node.makeProject(tenant)).id;
    const { projects } = node.tenancy;
    await projects.resolveProject(foreign, tenant);
    expect(projects.resolveProject(foreign, tenant)).toMatchObject({ tenantId: tenant });
    for (const id of [foreign, newId('prj', node.clock)]) {
      const found = projects.resolveProject(id, other);
      expect(found).toBeInstanceOf(Promise);
      expect(await found).toBeUndefined();
    }
  });
});

describe('the audit log', () => {
  test('has an entry for every write, newest first, with who and under which request', async () => {
    const tenantId = await node.makeTenant();
    const admin = await node.makeKey(tenantId, ['tenant:admin']);
    const project = (
      await node.call('POST', `/admin/v1/tenants/${tenantId}/projects`, admin.key, {
        name: 'P',
        kind: 'release',
      })
    ).json();
    const { id } = await node.makeKey(tenantId, ['usage:read'], { project_id: project.id });
    await node.call('DELETE', `/admin/v1/tenants/${tenantId}/api-keys/${id}`, admin.key);
    const log = (await node.call('GET', `/admin/v1/tenants/${tenantId}/audit-log`, admin.key)).json();
    expect(log.total_count).toBe(5);
    expect(
      log.entries.map((entry: { action: string; actor: string }) => [entry.action, entry.actor]),
    ).toEqual([
      ['api_key.revoke', admin.id],
      ['api_key.create', 'service'],
      ['project.create', admin.id],
      ['api_key.create', 'service'],
      ['tenant.create', 'service'],
    ]);
    expect(log.entries[1]).toMatchObject({
      tenant_id: tenantId,
      project_id: project.id,
      resource_type: 'api_key',
      resource_id: id,
      change: { name: 'k', permissions: ['usage:read'], project_id: project.id },
      request_id: expect.stringMatching(/^req_/),
      created_at: TEST_NOW_S,
    });
    expect(log.entries[0].change).toBeNull();
    const second = (
      await node.call('GET', `/admin/v1/tenants/${tenantId}/audit-log?limit=2&offset=1`, admin.key)
    ).json();
    expect(second.entries).toEqual(log.entries.slice(1, 3));
    for (const [filter, found] of [
      [`action=api_key.create&resource_id=${id}`, log.entries.slice(1, 2)],
      [`actor=${admin.id}`, [log.entries[0], log.entries[2]]],
      [`resource_type=project&project_id=${project.id}`, log.entries.slice(2, 3)],
    ]) {
      const url = `/admin/v1/tenants/${tenantId}/audit-log?${filter}`;
      const { entries, total_count } = (await node.call('GET', url, admin.key)).json();
      expect([entries, total_count]).toEqual([found, found.length]);
    }
  });

  test('404: of an absent tenant', async () => {
    const url = `/admin/v1/tenants/${newId('ten', node.clock)}/audit-log`;
    expect((await node.call('GET', url, node.serviceKey)).status).toBe(404);
  });
});
