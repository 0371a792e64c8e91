import type { CreatedApiKey, Project } from '@tollgate/contract';
import { expect } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { ManualClock } from '../../kernel/clock.js';
import type { App } from '../../platform/http/index.js';
import { createLog } from '../../platform/log/index.js';
import { TEST_NOW_S } from '../../testing/api.js';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { createTenancyApp } from '../../testing/tenancy-app.js';
import { registerConsoleRoutes, Sessions } from '../console/index.js';
import { markServed, markUnserved } from '../tenancy/index.js';
import * as directory from './directory-store.js';
import { joinCell } from './join.js';
import * as places from './place-store.js';

/** One cell: an application that listens, with a database of its own. */
export interface TestCell {
  readonly name: string;
  readonly app: App;
  readonly store: TestPostgres;
  readonly url: string;
}

interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Cells that have only the tenancy module, in this process, and their directory. */
export class CellsFixture {
  readonly serviceKey = generateApiKey('live');
  readonly clock = new ManualClock(TEST_NOW_S * 1_000);
  /** Age of all caches. */
  monotonicMs = 0;
  readonly #cells: TestCell[] = [];

  private constructor(readonly directory: TestPostgres) {}

  static async start(): Promise<CellsFixture> {
    const store = await createTestPostgres({ isEmpty: true });
    await directory.migrateDirectory(store.postgres);
    return new CellsFixture(store);
  }

  /** @param addRoutes registers more routes before the cell listens */
  async addCell(name: string, addRoutes: (app: App) => void = () => {}): Promise<TestCell> {
    const store = await createTestPostgres();
    const { postgres } = this.directory;
    await directory.putCell(postgres, { name, url: 'http://127.0.0.1:1', capacity: 50_000 });
    const own = await joinCell({
      directory: postgres,
      postgres: store.postgres,
      name,
      log: createLog({ level: 'silent' }),
      migrate: true,
      nowMs: () => this.clock.nowMs(),
      monotonicMs: () => this.monotonicMs,
    });
    let sessions: Sessions | undefined;
    const { app } = await createTenancyApp({
      sessionsOf: ({ authenticator }) => {
        sessions = new Sessions({ postgres: store.postgres, clock: this.clock, authenticator });
        return sessions;
      },
      postgres: store.postgres,
      clock: this.clock,
      serviceKey: this.serviceKey,
      monotonicMs: () => this.monotonicMs,
      register: own,
      cells: own,
    });
    if (sessions === undefined) throw new Error('no sessions were made');
    registerConsoleRoutes(app, { sessions, folder: '/nowhere' });
    addRoutes(app);
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    await directory.putCell(postgres, { name, url, capacity: 50_000 });
    const cell = { name, app, store, url };
    this.#cells.push(cell);
    return cell;
  }

  async call(
    { url }: { url: string },
    method: string,
    path: string,
    { key, body, headers }: CallOptions = {},
  ) {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
  }

  /** Creates a tenant in a cell, with a project and an administrator's key. */
  async makeTenant(cell: TestCell): Promise<{ tenantId: string; project: Project; key: CreatedApiKey }> {
    const headers = { 'x-tollgate-forwarded-by': 'test' };
    const made = await this.call(cell, 'POST', '/admin/v1/tenants', {
      key: this.serviceKey,
      body: { name: 'Acme' },
      headers,
    });
    expect(made.status).toBe(201);
    const tenantId = made.json().id;
    const path = `/admin/v1/tenants/${tenantId}`;
    const project = await this.call(cell, 'POST', `${path}/projects`, {
      key: this.serviceKey,
      body: { name: 'Chat', kind: 'release' },
    });
    const key = await this.call(cell, 'POST', `${path}/api-keys`, {
      key: this.serviceKey,
      body: { name: 'k', permissions: ['tenant:admin', 'usage:read'] },
    });
    return { tenantId, project: project.json(), key: key.json() };
  }

  /** Copies the rows of tenancy and moves the tenant, as far as routing is concerned. */
  async moveTenant(tenantId: string, from: TestCell, to: TestCell): Promise<void> {
    const frozen = await this.freezeTenant(tenantId, from, to);
    for (const [table, column] of [
      ['tenants', 'id'],
      ['projects', 'tenant_id'],
      ['api_keys', 'tenant_id'],
    ]) {
      const { rows } = await from.store.postgres.pool.query(
        `select to_jsonb(${table}) as row from ${table} where ${column} = $1`,
        [tenantId],
      );
      for (const { row } of rows) {
        await to.store.postgres.pool.query(
          `insert into ${table} overriding system value
            select * from jsonb_populate_record(null::${table}, $1) on conflict do nothing`,
          [row],
        );
      }
    }
    const { postgres } = this.directory;
    const switched = await places.switchTenant(postgres, frozen, from.name, to.name);
    await markServed(to.store.postgres.db, tenantId);
    expect(switched && (await places.openTenant(postgres, switched))).toBeDefined();
  }

  /** Takes the steps of a move up to the moment where no cell serves the tenant. */
  async freezeTenant(tenantId: string, from: TestCell, to: TestCell): Promise<places.TenantPlace> {
    const { postgres } = this.directory;
    await markUnserved(to.store.postgres.db, tenantId, 0);
    const place = await places.findPlace(postgres, tenantId);
    const moving = place && (await places.beginMove(postgres, place, to.name));
    const frozen = moving && (await places.freezeTenant(postgres, moving));
    if (frozen === undefined) throw new Error(`${tenantId} could not be frozen`);
    await markUnserved(from.store.postgres.db, tenantId, 0);
    return frozen;
  }

  /** Makes the directory unavailable, or available again. */
  async setAway(isAway: boolean): Promise<void> {
    const cell = this.#cells[0];
    if (cell === undefined) throw new Error('no cell was added');
    const { pathname } = new URL(this.directory.connectionString);
    const name = pathname.slice(1);
    await cell.store.beside(`alter database ${name} with allow_connections ${!isAway}`);
    if (isAway) {
      await cell.store.beside(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
    }
  }

  async stop(): Promise<void> {
    for (const { app, store } of this.#cells) {
      await app.close();
      await store.drop();
    }
    await this.directory.drop();
  }
}
