import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../kernel/id.js';
import { TEST_NOW_S } from '../../testing/api.js';
import { TenancyFixture } from '../../testing/tenancy.js';
import { KEY_CACHE_MS_MAX } from './authenticator.js';

let node: Awaited<ReturnType<typeof TenancyFixture.start>>;
beforeAll(async () => {
  node = await TenancyFixture.start();
});
afterAll(() => node.stop());

describe('keys', () => {
  let tenantId: string;
  let url: string;
  beforeEach(async () => {
    tenantId = await node.makeTenant();
    url = `/admin/v1/tenants/${tenantId}/api-keys`;
  });

  test('are shown once, work at once, and are stored as a hash only', async () => {
    const project = await node.makeProject(tenantId, 'development');
    const body = {
      name: 'ingest',
      permissions: ['usage:ingest'],
      project_id: project.id,
      expires_at: TEST_NOW_S + 60,
    };
    const created = await node.call('POST', url, node.serviceKey, body);
    expect(created.headers['cache-control']).toBe('no-store');
    const { key, ...shown } = created.json();
    expect(key).toMatch(/^tg_test_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}$/);
    expect(shown).toEqual({ id: expect.stringMatching(/^key_/), ...body, created_at: TEST_NOW_S });
    expect((await node.call('GET', url, node.serviceKey)).json()).toEqual({
      api_keys: [shown],
      total_count: 1,
      limit: 20,
      offset: 0,
    });
    expect((await node.call('GET', '/v1/me', key)).json()).toEqual({
      kind: 'key',
      key_id: shown.id,
      tenant_id: tenantId,
      project_id: project.id,
      permissions: ['usage:ingest'],
    });
    const secret = key.split('_')[2];
    const { rows } = await node.store.postgres.pool.query(
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
      { name: 'x', permissions: ['usage:read'], expires_at: TEST_NOW_S },
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
    const refused = await node.call('POST', url, node.serviceKey, body);
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });

  test("400: another tenant's project looks like an absent one", async () => {
    const foreign = await node.makeProject(await node.makeTenant());
    const bodyFor = (project_id: string) => ({ name: 'x', permissions: ['usage:read'], project_id });
    const refused = await node.call('POST', url, node.serviceKey, bodyFor(foreign.id));
    expect(refused.status).toBe(400);
    expect(refused.text).toBe(
      (await node.call('POST', url, node.serviceKey, bodyFor(newId('prj', node.clock)))).text,
    );
  });

  test('400: an administrator cannot be bound to a project', async () => {
    const project = await node.makeProject(tenantId);
    const body = { name: 'x', permissions: ['tenant:admin'], project_id: project.id };
    const refused = await node.call('POST', url, node.serviceKey, body);
    expect(refused.status).toBe(400);
    const message = 'tenant:admin cannot be bound to one project';
    expect(refused.json()).toMatchObject({
      error: `The request is not valid: permissions: ${message}.`,
      details: [{ path: 'permissions', message }],
    });
  });

  test('404: in an absent tenant', async () => {
    const absent = `/admin/v1/tenants/${newId('ten', node.clock)}/api-keys`;
    const body = { name: 'x', permissions: ['usage:read'] };
    expect((await node.call('POST', absent, node.serviceKey, body)).status).toBe(404);
    expect((await node.call('GET', absent, node.serviceKey)).status).toBe(404);
  });

  test('204, then 404: a key is revoked once, and gone', async () => {
    const { id, key } = await node.makeKey(tenantId, ['usage:read']);
    expect((await node.call('GET', '/v1/me', key)).status).toBe(200);
    const revoked = await node.call('DELETE', `${url}/${id}`, node.serviceKey);
    expect([revoked.status, revoked.text]).toEqual([204, '']);
    expect((await node.call('GET', '/v1/me', key)).status).toBe(401);
    expect((await node.call('GET', url, node.serviceKey)).json().total_count).toBe(0);
    expect((await node.call('DELETE', `${url}/${id}`, node.serviceKey)).status).toBe(404);
  });

  test("404: another tenant's key", async () => {
    const { id } = await node.makeKey(await node.makeTenant(), ['usage:read']);
    expect((await node.call('DELETE', `${url}/${id}`, node.serviceKey)).status).toBe(404);
  });

  test('a revoked key stops working on every other node within the age of the cache', async () => {
    const { app: other } = await node.startNode();
    const { id, key } = await node.makeKey(tenantId, ['usage:read']);
    expect((await node.call('GET', '/v1/me', key, undefined, other)).status).toBe(200);
    await node.call('DELETE', `${url}/${id}`, node.serviceKey);
    node.monotonicMs += KEY_CACHE_MS_MAX;
    expect((await node.call('GET', '/v1/me', key, undefined, other)).status).toBe(401);
    expect(KEY_CACHE_MS_MAX).toBeLessThanOrEqual(500);
  });

  test('an expired key stops working at its second, cached or not', async () => {
    const { key } = await node.makeKey(tenantId, ['usage:read'], {
      expires_at: Math.floor(node.clock.nowMs() / 1000) + 10,
    });
    node.clock.advanceMs(9_999);
    expect((await node.call('GET', '/v1/me', key)).status).toBe(200);
    node.clock.advanceMs(1);
    const late = await node.call('GET', '/v1/me', key);
    expect(late.status).toBe(401);
    expect(late.text).toBe((await node.call('GET', '/v1/me')).text);
    node.clock.advanceMs(TEST_NOW_S * 1000 - node.clock.nowMs());
  });
});
