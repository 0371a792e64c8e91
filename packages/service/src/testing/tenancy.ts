import type { CreatedApiKey, Permission, Project } from '@tollgate/contract';
import { expect } from 'vitest';
import { generateApiKey } from '../kernel/api-key-text.js';
import { ManualClock } from '../kernel/clock.js';
import type { Tenancy } from '../modules/tenancy/index.js';
import type { App } from '../platform/http/index.js';
import { TEST_NOW_S } from './api.js';
import { createTestPostgres, type TestPostgres } from './postgres.js';
import { createTenancyApp } from './tenancy-app.js';

/** Tenancy with a database of its own: any number of nodes, one clock. */
export class TenancyFixture {
  readonly serviceKey = generateApiKey('live');
  readonly clock = new ManualClock(TEST_NOW_S * 1000);
  /** Age of caches follows this, not the clock. */
  monotonicMs = 0;
  readonly #apps: App[] = [];

  private constructor(readonly store: TestPostgres) {}

  static async start(): Promise<TenancyFixture & { app: App; tenancy: Tenancy }> {
    const fixture = new TenancyFixture(await createTestPostgres());
    return Object.assign(fixture, await fixture.startNode());
  }

  /** Starts one more process of the service on the same database. */
  async startNode(): Promise<{ app: App; tenancy: Tenancy }> {
    const node = await createTenancyApp({
      postgres: this.store.postgres,
      clock: this.clock,
      serviceKey: this.serviceKey,
      monotonicMs: () => this.monotonicMs,
    });
    this.#apps.push(node.app);
    return node;
  }

  async call(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    key?: string,
    body?: object,
    on = this.#apps[0],
  ) {
    if (on === undefined) throw new Error('no node was started');
    const response = await on.inject({
      method,
      url,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { payload: body }),
    });
    const { statusCode: status, body: text, headers } = response;
    return { status, text, headers, json: () => response.json() };
  }

  async makeTenant(name = 'Acme'): Promise<string> {
    return (await this.#make('/admin/v1/tenants', { name })).id;
  }

  async makeProject(tenantId: string, kind = 'release'): Promise<Project> {
    return this.#make(`/admin/v1/tenants/${tenantId}/projects`, { name: 'Chat', kind });
  }

  async makeKey(
    tenantId: string,
    permissions: Permission[],
    more: { project_id?: string; expires_at?: number } = {},
  ): Promise<CreatedApiKey> {
    return this.#make(`/admin/v1/tenants/${tenantId}/api-keys`, { name: 'k', permissions, ...more });
  }

  async stop(): Promise<void> {
    for (const app of this.#apps) await app.close();
    await this.store.drop();
  }

  async #make(url: string, body: object) {
    const created = await this.call('POST', url, this.serviceKey, body);
    expect(created.status).toBe(201);
    return created.json();
  }
}
