import { ApiError, TollgateClient } from '@tollgate/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { methodsOf, RecordedRequests } from './support/recorded-requests.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

let service: RunningService;

beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service?.stop());

it('every method of a client and of a tenant, against the service', async () => {
  const sent = new RecordedRequests();
  const clientOf = (apiKey: string) =>
    new TollgateClient({ baseUrl: service.url, apiKey, fetch: sent.fetch });
  const client = clientOf(service.serviceKey);
  const { id } = await client.createTenant({ name: 'Beta' });
  expect((await client.tenants({ limit: 100 })).tenants.map((each) => each.id)).toContain(id);
  const tenant = client.tenant(id);
  expect(await tenant.get()).toMatchObject({ id, name: 'Beta' });
  const made = await tenant.createProject({ name: 'Trial', kind: 'development' });
  expect((await tenant.projects()).projects).toEqual([made]);
  const key = await tenant.createApiKey({ name: 'admin', permissions: ['tenant:admin'] });
  expect((await tenant.apiKeys()).api_keys.map((each) => each.id)).toContain(key.id);
  const own = clientOf(key.key);
  expect(await own.me()).toMatchObject({ tenant_id: id });
  expect((await own.projects()).projects).toEqual([made]);
  expect(await own.entitlement()).toEqual(await tenant.entitlement());
  expect((await own.plans()).plans).toBeInstanceOf(Array);
  expect((await own.extractorTemplates()).templates).not.toEqual([]);
  const purchase = own.tenant(id).checkout({ plan_id: 'none' }, { idempotencyKey: 'buy-1' });
  await expect(purchase).rejects.toBeInstanceOf(ApiError);
  expect((await tenant.orders({ status: 'paid' })).orders).toEqual([]);
  await expect(tenant.order('ord_none')).rejects.toMatchObject({ status: 404 });
  expect((await tenant.auditLog({ resource_type: 'api_key' })).entries).not.toEqual([]);
  await tenant.revokeApiKey(key.id);
  await expect(own.request('GET', '/v1/me')).rejects.toMatchObject({ status: 401 });
  const asked = await sent.operationsOf(service.url);
  // `project`, `tenant` and `request` send nothing of their own.
  expect(asked.size).toBe(methodsOf(client).length - 3 + methodsOf(tenant).length);
});
