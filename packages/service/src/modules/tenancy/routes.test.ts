import type { CreatedApiKey, Permission, Project } from '@tollgate/contract';
import { PERMISSIONS } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { ManualClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { type App, createApp } from '../../platform/http/index.js';
import { createLog } from '../../platform/log/index.js';
import { createMetrics } from '../../platform/metrics/index.js';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { createTenancy, KEY_CACHE_MS_MAX, registerTenancyRoutes, type Tenancy } from './index.js';

const SERVICE_KEY = generateApiKey('live');
const NOW_S = 1_790_000_000;

let store: TestPostgres;
let clock: ManualClock;
let monotonicMs = 0;
let tenancy: Tenancy;
let app: App;

beforeAll(async () => {
  store = await createTestPostgres();
  clock = new ManualClock(NOW_S * 1000);
  [app, tenancy] = await startNode();
});
afterAll(async () => {
  await app.close();
  await store.drop();
});

/** One more process of the service on the same database. */
async function startNode(): Promise<[App, Tenancy]> {
  const node = createTenancy({
    postgres: store.postgres,
    clock,
    serviceKey: SERVICE_KEY,
    monotonicMs: () => monotonicMs,
  });
  const nodeApp = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    checkResponses: true,
    ...node,
  });
  registerTenancyRoutes(nodeApp, node);
  return [nodeApp, node];
}

async function call(method: 'GET' | 'POST' | 'DELETE', url: string, key?: string, body?: object, on = app) {
  const response = await on.inject({
    method,
    url,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { payload: body }),
  });
  return {
    status: response.statusCode,
    text: response.body,
    headers: response.headers,
    json: () => response.json(),
  };
}

async function makeTenant(name = 'Acme'): Promise<string> {
  const created = await call('POST', '/admin/v1/tenants', SERVICE_KEY, { name });
  expect(created.status).toBe(201);
  return created.json().id;
}

async function makeProject(tenantId: string, kind = 'release'): Promise<Project> {
  const url = `/admin/v1/tenants/${tenantId}/projects`;
  const created = await call('POST', url, SERVICE_KEY, { name: 'Chat', kind });
  expect(created.status).toBe(201);
  return created.json();
}

async function makeKey(
  tenantId: string,
  permissions: Permission[],
  more: { project_id?: string; expires_at?: number } = {},
): Promise<CreatedApiKey> {
  const url = `/admin/v1/tenants/${tenantId}/api-keys`;
  const created = await call('POST', url, SERVICE_KEY, { name: 'k', permissions, ...more });
  expect(created.status).toBe(201);
  return created.json();
}

describe('tenants', () => {
  test('are created, read and listed by the service key', async () => {
    const id = await makeTenant('Ünïcode & Co');
    const tenant = { id, name: 'Ünïcode & Co', created_at: NOW_S };
    expect((await call('GET', `/admin/v1/tenants/${id}`, SERVICE_KEY)).json()).toEqual(tenant);
    const list = (await call('GET', '/admin/v1/tenants?limit=100', SERVICE_KEY)).json();
    expect(list.tenants).toContainEqual(tenant);
    expect(list).toMatchObject({ total_count: list.tenants.length, limit: 100, offset: 0 });
  });

  test('a page past the end is empty and still tells the whole count', async () => {
    await makeTenant();
    const list = (await call('GET', '/admin/v1/tenants?offset=10000', SERVICE_KEY)).json();
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
    const refused = await call('POST', '/admin/v1/tenants', SERVICE_KEY, body);
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
    expect((await call('GET', `/admin/v1/tenants?${query}`, SERVICE_KEY)).status).toBe(400);
  });

  test('404: an absent tenant', async () => {
    const absent = await call('GET', `/admin/v1/tenants/${newId('ten', clock)}`, SERVICE_KEY);
    expect(absent.status).toBe(404);
    expect(absent.text).toBe('{"error":"There is no such resource.","code":"not_found"}');
    expect((await call('GET', '/admin/v1/tenants/%00', SERVICE_KEY)).text).toBe(absent.text);
  });
});

describe('projects', () => {
  test('are created and listed; storage is shared', async () => {
    const tenantId = await makeTenant();
    const project = await makeProject(tenantId, 'development');
    expect(project).toEqual({
      id: expect.stringMatching(/^prj_[0-9a-f]{32}$/),
      tenant_id: tenantId,
      name: 'Chat',
      kind: 'development',
      storage: 'shared',
      created_at: NOW_S,
    });
    const list = await call('GET', `/admin/v1/tenants/${tenantId}/projects`, SERVICE_KEY);
    expect(list.json()).toEqual({ projects: [project], total_count: 1, limit: 20, offset: 0 });
  });

  test('a tenant administrator makes them too', async () => {
    const tenantId = await makeTenant();
    const { key } = await makeKey(tenantId, ['tenant:admin']);
    const url = `/admin/v1/tenants/${tenantId}/projects`;
    expect((await call('POST', url, key, { name: 'x', kind: 'release' })).status).toBe(201);
    expect((await call('GET', url, key)).json().total_count).toBe(1);
  });

  test.each([
    { name: 'x', kind: 'staging' },
    { name: 'x' },
    { name: 'x', kind: 'release', storage: 'dedicated' },
  ])('400: %j', async (body) => {
    const url = `/admin/v1/tenants/${await makeTenant()}/projects`;
    expect((await call('POST', url, SERVICE_KEY, body)).status).toBe(400);
  });

  test('404: in an absent tenant, read or written', async () => {
    const url = `/admin/v1/tenants/${newId('ten', clock)}/projects`;
    expect((await call('GET', url, SERVICE_KEY)).status).toBe(404);
    expect((await call('POST', url, SERVICE_KEY, { name: 'x', kind: 'release' })).status).toBe(404);
  });

  test('are found for routes, and only while they exist', async () => {
    const project = await makeProject(await makeTenant());
    const found = await tenancy.projects.resolveProject(project.id);
    expect(found).toMatchObject({ projectId: project.id, tenantId: project.tenant_id, kind: 'release' });
    expect(tenancy.projects.resolveProject(project.id)).toBe(found);
    expect(await tenancy.projects.resolveProject(newId('prj', clock))).toBeUndefined();
    expect(tenancy.projects.resolveProject("prj_' or 1=1")).toBeUndefined();
  });
});

describe('keys', () => {
  let tenantId: string;
  let url: string;
  beforeEach(async () => {
    tenantId = await makeTenant();
    url = `/admin/v1/tenants/${tenantId}/api-keys`;
  });

  test('are shown once, work at once, and are stored as a hash only', async () => {
    const project = await makeProject(tenantId, 'development');
    const body = {
      name: 'ingest',
      permissions: ['usage:ingest'],
      project_id: project.id,
      expires_at: NOW_S + 60,
    };
    const created = await call('POST', url, SERVICE_KEY, body);
    expect(created.headers['cache-control']).toBe('no-store');
    const { key, ...shown } = created.json();
    expect(key).toMatch(/^tg_test_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}$/);
    expect(shown).toEqual({ id: expect.stringMatching(/^key_/), ...body, created_at: NOW_S });
    expect((await call('GET', url, SERVICE_KEY)).json()).toEqual({
      api_keys: [shown],
      total_count: 1,
      limit: 20,
      offset: 0,
    });
    expect((await call('GET', '/v1/me', key)).json()).toEqual({
      kind: 'key',
      key_id: shown.id,
      tenant_id: tenantId,
      project_id: project.id,
      permissions: ['usage:ingest'],
    });
    const secret = key.split('_')[2];
    const { rows } = await store.postgres.pool.query(
      'select k::text as k from api_keys k union select a::text from audit_log a',
    );
    expect(rows.some((row) => row.k.includes(shown.id))).toBe(true);
    expect(rows.some((row) => row.k.includes(secret))).toBe(false);
  });

  test.each<[string, object, string]>([
    ['no permission', { name: 'x', permissions: [] }, 'permissions'],
    ['an unknown permission', { name: 'x', permissions: ['usage:delete'] }, 'permissions[0]'],
    ['a permission twice', { name: 'x', permissions: ['usage:read', 'usage:read'] }, 'permissions'],
    ['no name', { permissions: ['usage:read'] }, 'name'],
    [
      'an expiry that has passed',
      { name: 'x', permissions: ['usage:read'], expires_at: NOW_S },
      'expires_at',
    ],
    [
      'an expiry in parts of a second',
      { name: 'x', permissions: ['usage:read'], expires_at: 2e9 + 0.5 },
      'expires_at',
    ],
    ['null for no expiry', { name: 'x', permissions: ['usage:read'], expires_at: null }, 'expires_at'],
    [
      'an absent project',
      { name: 'x', permissions: ['usage:read'], project_id: `prj_${'0'.repeat(32)}` },
      'project_id',
    ],
    ['a secret of their own', { name: 'x', permissions: ['usage:read'], key: 'tg_live_x' }, 'key'],
  ])('400: %s', async (_what, body, path) => {
    const refused = await call('POST', url, SERVICE_KEY, body);
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });

  test("400: another tenant's project looks like an absent one", async () => {
    const foreign = await makeProject(await makeTenant());
    const bodyFor = (project_id: string) => ({ name: 'x', permissions: ['usage:read'], project_id });
    const refused = await call('POST', url, SERVICE_KEY, bodyFor(foreign.id));
    expect(refused.status).toBe(400);
    expect(refused.text).toBe((await call('POST', url, SERVICE_KEY, bodyFor(newId('prj', clock)))).text);
  });

  test('400: an administrator cannot be bound to a project', async () => {
    const project = await makeProject(tenantId);
    const body = { name: 'x', permissions: ['tenant:admin'], project_id: project.id };
    const refused = await call('POST', url, SERVICE_KEY, body);
    expect(refused.status).toBe(400);
    expect(refused.json().details).toEqual([
      { path: 'permissions', message: 'tenant:admin cannot be bound to one project' },
    ]);
  });

  test('404: in an absent tenant', async () => {
    const absent = `/admin/v1/tenants/${newId('ten', clock)}/api-keys`;
    const body = { name: 'x', permissions: ['usage:read'] };
    expect((await call('POST', absent, SERVICE_KEY, body)).status).toBe(404);
    expect((await call('GET', absent, SERVICE_KEY)).status).toBe(404);
  });

  test('204, then 404: a key is revoked once, and gone', async () => {
    const { id, key } = await makeKey(tenantId, ['usage:read']);
    expect((await call('GET', '/v1/me', key)).status).toBe(200);
    const revoked = await call('DELETE', `${url}/${id}`, SERVICE_KEY);
    expect([revoked.status, revoked.text]).toEqual([204, '']);
    expect((await call('GET', '/v1/me', key)).status).toBe(401);
    expect((await call('GET', url, SERVICE_KEY)).json().total_count).toBe(0);
    expect((await call('DELETE', `${url}/${id}`, SERVICE_KEY)).status).toBe(404);
  });

  test("404: another tenant's key", async () => {
    const { id } = await makeKey(await makeTenant(), ['usage:read']);
    expect((await call('DELETE', `${url}/${id}`, SERVICE_KEY)).status).toBe(404);
  });

  test('a revoked key stops working on every other node within the age of the cache', async () => {
    const [other] = await startNode();
    const { id, key } = await makeKey(tenantId, ['usage:read']);
    expect((await call('GET', '/v1/me', key, undefined, other)).status).toBe(200);
    await call('DELETE', `${url}/${id}`, SERVICE_KEY);
    monotonicMs += KEY_CACHE_MS_MAX;
    expect((await call('GET', '/v1/me', key, undefined, other)).status).toBe(401);
    await other.close();
    expect(KEY_CACHE_MS_MAX).toBeLessThanOrEqual(500);
  });

  test('an expired key stops working at its second, cached or not', async () => {
    const { key } = await makeKey(tenantId, ['usage:read'], {
      expires_at: Math.floor(clock.nowMs() / 1000) + 10,
    });
    clock.advanceMs(9_999);
    expect((await call('GET', '/v1/me', key)).status).toBe(200);
    clock.advanceMs(1);
    const late = await call('GET', '/v1/me', key);
    expect(late.status).toBe(401);
    expect(late.text).toBe((await call('GET', '/v1/me')).text);
    clock.advanceMs(NOW_S * 1000 - clock.nowMs());
  });
});

describe('who may', () => {
  const BODIES: Record<string, object> = {
    tenants: { name: 'x' },
    projects: { name: 'x', kind: 'release' },
    'api-keys': { name: 'x', permissions: ['usage:read'] },
  };

  test('401: every route without a key, with an unknown, a malformed or a foreign-made one', async () => {
    const tenantId = await makeTenant();
    for (const [method, url] of adminRoutes(tenantId)) {
      for (const key of [undefined, '', 'x', generateApiKey('live'), `${SERVICE_KEY}x`, 'tg_live_0_000000']) {
        const refused = await call(method, url, key, BODIES[url.split('/').pop() ?? '']);
        expect([method, url, key, refused.status]).toEqual([method, url, key, 401]);
        expect(refused.headers['www-authenticate']).toBe('Bearer');
      }
    }
  });

  test('403: every administration route for a key with every permission but tenant:admin', async () => {
    const tenantId = await makeTenant();
    const { key } = await makeKey(
      tenantId,
      PERMISSIONS.filter((name) => name !== 'tenant:admin'),
    );
    for (const [method, url] of adminRoutes(tenantId)) {
      if (url === '/v1/me' || url === '/v1/projects') continue;
      const refused = await call(method, url, key, BODIES[url.split('/').pop() ?? '']);
      expect([method, url, refused.status]).toEqual([method, url, 403]);
    }
  });

  test('403: the routes of the service for an administrator', async () => {
    const tenantId = await makeTenant();
    const { key } = await makeKey(tenantId, ['tenant:admin']);
    expect((await call('POST', '/admin/v1/tenants', key, { name: 'x' })).status).toBe(403);
    expect((await call('GET', '/admin/v1/tenants', key)).status).toBe(403);
    expect((await call('GET', `/admin/v1/tenants/${tenantId}`, key)).status).toBe(403);
  });

  test("404: another tenant's administration is byte for byte an absent tenant's", async () => {
    const { key } = await makeKey(await makeTenant(), ['tenant:admin']);
    const foreign = await makeTenant();
    const { id: foreignKey } = await makeKey(foreign, ['usage:read']);
    const absent = newId('ten', clock);
    for (const [method, url] of adminRoutes(foreign, foreignKey)) {
      if (!url.startsWith(`/admin/v1/tenants/${foreign}/`)) continue;
      const body = BODIES[url.split('/').pop() ?? ''];
      const refused = await call(method, url, key, body);
      expect([method, url, refused.status]).toEqual([method, url, 404]);
      expect(refused.text).toBe((await call(method, url.replace(foreign, absent), key, body)).text);
    }
  });

  test("what a key sees of projects: its own, its tenant's, or all", async () => {
    const tenantId = await makeTenant();
    const [first, second] = [await makeProject(tenantId), await makeProject(tenantId)];
    await makeProject(await makeTenant());
    const seenBy = async (key: string) =>
      (await call('GET', '/v1/projects?limit=100', key))
        .json()
        .projects.map((project: Project) => project.id);
    const bound = await makeKey(tenantId, ['usage:read'], { project_id: second.id });
    const unbound = await makeKey(tenantId, ['usage:read']);
    expect(await seenBy(bound.key)).toEqual([second.id]);
    expect(await seenBy(unbound.key)).toEqual([first.id, second.id].sort());
    expect((await seenBy(SERVICE_KEY)).length).toBeGreaterThan(2);
  });

  test('the service key is nobody in particular, and may everything', async () => {
    expect((await call('GET', '/v1/me', SERVICE_KEY)).json()).toEqual({
      kind: 'service',
      key_id: null,
      tenant_id: null,
      project_id: null,
      permissions: PERMISSIONS,
    });
  });
});

describe('the audit log', () => {
  test('has an entry for every write, newest first, with who and under which request', async () => {
    const tenantId = await makeTenant();
    const admin = await makeKey(tenantId, ['tenant:admin']);
    const project = (
      await call('POST', `/admin/v1/tenants/${tenantId}/projects`, admin.key, { name: 'P', kind: 'release' })
    ).json();
    const { id } = await makeKey(tenantId, ['usage:read'], { project_id: project.id });
    await call('DELETE', `/admin/v1/tenants/${tenantId}/api-keys/${id}`, admin.key);
    const log = (await call('GET', `/admin/v1/tenants/${tenantId}/audit-log`, admin.key)).json();
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
      created_at: NOW_S,
    });
    expect(log.entries[0].change).toBeNull();
    const second = (
      await call('GET', `/admin/v1/tenants/${tenantId}/audit-log?limit=2&offset=1`, admin.key)
    ).json();
    expect(second.entries).toEqual(log.entries.slice(1, 3));
  });

  test('404: of an absent tenant', async () => {
    const url = `/admin/v1/tenants/${newId('ten', clock)}/audit-log`;
    expect((await call('GET', url, SERVICE_KEY)).status).toBe(404);
  });
});

/** Every route of this module, with the ids filled in. */
function adminRoutes(tenantId: string, keyId = 'key_x'): ['GET' | 'POST' | 'DELETE', string][] {
  return app.routeTable.routes
    .filter(({ url }) => url.startsWith('/admin/v1/tenants') || url === '/v1/me' || url === '/v1/projects')
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url }) => [
      method as 'GET',
      url.replace(':tenant_id', tenantId).replace(':key_id', keyId),
    ]);
}
