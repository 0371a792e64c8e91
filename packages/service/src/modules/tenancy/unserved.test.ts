import { afterAll, beforeAll, expect, it } from 'vitest';
import type { App } from '../../platform/http/index.js';
import { TenancyFixture } from '../../testing/tenancy.js';
import { createTenancyApp } from '../../testing/tenancy-app.js';
import { isServed, KEY_CACHE_MS_MAX, markServed, markUnserved } from './index.js';

let node: Awaited<ReturnType<typeof TenancyFixture.start>>;
let app: App;
let tenantId: string;
let key: string;
let projects: Awaited<ReturnType<typeof createTenancyApp>>['tenancy']['projects'];
let projectId: string;
beforeAll(async () => {
  node = await TenancyFixture.start();
  const made = await createTenancyApp({
    postgres: node.store.postgres,
    clock: node.clock,
    serviceKey: node.serviceKey,
    register: { addTenant: async () => {}, addProject: async () => {}, addKey: async () => {} },
    monotonicMs: () => node.monotonicMs,
  });
  app = made.app;
  projects = made.tenancy.projects;
  tenantId = await node.makeTenant();
  projectId = (await node.makeProject(tenantId)).id;
  ({ key } = await node.makeKey(tenantId, ['tenant:admin']));
});
afterAll(async () => {
  await app.close();
  await node.stop();
});

async function statusOfMe(): Promise<number> {
  return (await node.call('GET', '/v1/me', key, undefined, app)).status;
}

async function listed(path: string): Promise<string[]> {
  const body = (await node.call('GET', `${path}?limit=100`, node.serviceKey, undefined, app)).json();
  return (body.tenants ?? body.projects).map(({ id }: { id: string }) => id);
}

it('finds neither keys nor projects of an unserved tenant, and finds them again once it is served', async () => {
  const { db } = node.store.postgres;
  expect(await statusOfMe()).toBe(200);
  expect((await projects.resolveProject(projectId))?.tenantId).toBe(tenantId);
  expect(await isServed(db, tenantId)).toBe(true);

  await markUnserved(db, tenantId, node.clock.nowMs());
  await markUnserved(db, tenantId, node.clock.nowMs());
  node.monotonicMs += KEY_CACHE_MS_MAX;
  expect(await statusOfMe()).toBe(401);
  expect(await projects.resolveProject(projectId)).toBeUndefined();
  expect(await isServed(db, tenantId)).toBe(false);
  expect(await listed('/admin/v1/tenants')).not.toContain(tenantId);
  expect(await listed('/v1/projects')).not.toContain(projectId);

  await markServed(db, tenantId);
  node.monotonicMs += KEY_CACHE_MS_MAX;
  expect(await statusOfMe()).toBe(200);
  expect((await projects.resolveProject(projectId))?.tenantId).toBe(tenantId);
  expect(await isServed(db, tenantId)).toBe(true);
  expect(await listed('/admin/v1/tenants')).toContain(tenantId);
});

it('does not serve a tenant that does not exist', async () => {
  expect(await isServed(node.store.postgres.db, 'ten_none')).toBe(false);
});
