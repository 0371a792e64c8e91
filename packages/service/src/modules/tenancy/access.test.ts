import { PERMISSIONS, type Project } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { newId } from '../../kernel/id.js';
import { TenancyFixture } from '../../testing/tenancy.js';

let node: Awaited<ReturnType<typeof TenancyFixture.start>>;
beforeAll(async () => {
  node = await TenancyFixture.start();
});
afterAll(() => node.stop());

describe('who may', () => {
  const BODIES: Record<string, object> = {
    tenants: { name: 'x' },
    projects: { name: 'x', kind: 'release' },
    'api-keys': { name: 'x', permissions: ['usage:read'] },
  };

  test('401: every route without a key, with an unknown, a malformed or a foreign-made one', async () => {
    const tenantId = await node.makeTenant();
    for (const [method, url] of adminRoutes(tenantId)) {
      for (const key of [
        undefined,
        '',
        'x',
        generateApiKey('live'),
        `${node.serviceKey}x`,
        'tg_live_0_000000',
      ]) {
        const refused = await node.call(method, url, key, BODIES[url.split('/').pop() ?? '']);
        expect([method, url, key, refused.status]).toEqual([method, url, key, 401]);
        expect(refused.headers['www-authenticate']).toBe('Bearer');
      }
    }
  });

  test('403: every administration route for a key with every permission but tenant:admin', async () => {
    const tenantId = await node.makeTenant();
    const { key } = await node.makeKey(
      tenantId,
      PERMISSIONS.filter((name) => name !== 'tenant:admin'),
    );
    for (const [method, url] of adminRoutes(tenantId)) {
      if (url === '/v1/me' || url === '/v1/projects') continue;
      const refused = await node.call(method, url, key, BODIES[url.split('/').pop() ?? '']);
      expect([method, url, refused.status]).toEqual([method, url, 403]);
    }
  });

  test('403: the routes of the service for an administrator', async () => {
    const tenantId = await node.makeTenant();
    const { key } = await node.makeKey(tenantId, ['tenant:admin']);
    expect((await node.call('POST', '/admin/v1/tenants', key, { name: 'x' })).status).toBe(403);
    expect((await node.call('GET', '/admin/v1/tenants', key)).status).toBe(403);
    expect((await node.call('GET', `/admin/v1/tenants/${tenantId}`, key)).status).toBe(403);
  });

  test("404: another tenant's administration is byte for byte an absent tenant's", async () => {
    const { key } = await node.makeKey(await node.makeTenant(), ['tenant:admin']);
    const foreign = await node.makeTenant();
    const { id: foreignKey } = await node.makeKey(foreign, ['usage:read']);
    const absent = newId('ten', node.clock);
    for (const [method, url] of adminRoutes(foreign, foreignKey)) {
      if (!url.startsWith(`/admin/v1/tenants/${foreign}/`)) continue;
      const body = BODIES[url.split('/').pop() ?? ''];
      const refused = await node.call(method, url, key, body);
      expect([method, url, refused.status]).toEqual([method, url, 404]);
      expect(refused.text).toBe((await node.call(method, url.replace(foreign, absent), key, body)).text);
    }
  });

  test("what a key sees of projects: its own, its tenant's, or all", async () => {
    const tenantId = await node.makeTenant();
    const [first, second] = [await node.makeProject(tenantId), await node.makeProject(tenantId)];
    await node.makeProject(await node.makeTenant());
    const seenBy = async (key: string) =>
      (await node.call('GET', '/v1/projects?limit=100', key))
        .json()
        .projects.map((project: Project) => project.id);
    const bound = await node.makeKey(tenantId, ['usage:read'], { project_id: second.id });
    const unbound = await node.makeKey(tenantId, ['usage:read']);
    expect(await seenBy(bound.key)).toEqual([second.id]);
    expect(await seenBy(unbound.key)).toEqual([first.id, second.id].sort());
    expect((await seenBy(node.serviceKey)).length).toBeGreaterThan(2);
  });

  test('the service key is nobody in particular, and may everything', async () => {
    expect((await node.call('GET', '/v1/me', node.serviceKey)).json()).toEqual({
      kind: 'service',
      key_id: null,
      tenant_id: null,
      project_id: null,
      permissions: PERMISSIONS,
    });
  });
});

/** Returns every route of this module, with the ids filled in. */
function adminRoutes(tenantId: string, keyId = 'key_x'): ['GET' | 'POST' | 'DELETE', string][] {
  return node.app.routeTable.routes
    .filter(({ url }) => url.startsWith('/admin/v1/tenants') || url === '/v1/me' || url === '/v1/projects')
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url }) => [
      method as 'GET',
      url.replace(':tenant_id', tenantId).replace(':key_id', keyId),
    ]);
}
