import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { ManualClock } from '../../kernel/clock.js';
import { applyClickHouseMigrations, type QueryParams } from '../../platform/clickhouse/index.js';
import { parseMigration, readMigrations } from '../../platform/migration-files.js';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
} from '../../testing/index.js';
import { createTenancyApp } from '../../testing/tenancy-app.js';
import { dedicatedSuffixes, provisionStorage } from './project-store.js';

type App = Awaited<ReturnType<typeof createTenancyApp>>['app'];

const serviceKey = generateApiKey('live');
let store: TestPostgres;
let house: TestClickHouse;
let app: App;
/** Number of statements that ClickHouse runs before it fails. */
let statementsLeft: number;

beforeAll(async () => {
  [store, house] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
  const clickhouse = {
    command: async (statement: string) => {
      if (statementsLeft-- <= 0) throw new Error('out of disk');
      await house.clickhouse.command(statement);
    },
    query: <Row>(sql: string, params?: QueryParams) => house.clickhouse.query<Row>(sql, params),
  };
  ({ app } = await createTenancyApp({
    postgres: store.postgres,
    clock: new ManualClock(0),
    serviceKey,
    projectAdmission: {
      admitProject: async (_tx, _tenantId, kind) => (kind === 'release' ? 'dedicated' : 'shared'),
    },
    provisionStorage: (projectNo) => provisionStorage(clickhouse, projectNo),
  }));
});

afterAll(async () => {
  await app.close();
  await Promise.all([store.drop(), house.drop()]);
});

beforeEach(() => {
  statementsLeft = Number.POSITIVE_INFINITY;
});

async function post(url: string, payload: object) {
  return app.inject({ method: 'POST', url, payload, headers: { authorization: `Bearer ${serviceKey}` } });
}

async function newTenant(): Promise<string> {
  return (await post('/admin/v1/tenants', { name: 'Acme' })).json().id;
}

const newProject = (tenantId: string, kind: string) =>
  post(`/admin/v1/tenants/${tenantId}/projects`, { name: 'Chat', kind });

async function projectsOf(tenantId: string): Promise<{ no: number; storage: string }[]> {
  const { pool } = store.postgres;
  return (await pool.query('select no, storage from projects where tenant_id = $1 order by no', [tenantId]))
    .rows;
}

async function tables(suffix: string): Promise<{ name: string; definition: string }[]> {
  const found = await house.clickhouse.query<{ name: string; definition: string }>(
    `SELECT name, replaceAll(create_table_query, currentDatabase(), '') AS definition FROM system.tables
     WHERE database = currentDatabase() AND match(name, {pattern:String}) ORDER BY name`,
    { pattern: `^usage_[a-z_]*[a-z]${suffix}$` },
  );
  const identity = / UUID '[^']*'/g;
  return found.map(({ name, definition }) => ({ name, definition: definition.replaceAll(identity, '') }));
}

test('a project gets tables of its own that differ from the shared ones in nothing but their names', async () => {
  const tenantId = await newTenant();
  const created = await newProject(tenantId, 'release');
  expect([created.statusCode, created.json().storage]).toEqual([201, 'dedicated']);
  const [project] = await projectsOf(tenantId);
  const suffix = `_${project?.no}`;
  const own = await tables(suffix);
  expect(own).toHaveLength(3);
  const text = (list: { name: string; definition: string }[]) => JSON.stringify(list);
  expect(text(own).replaceAll(suffix, '')).toBe(text(await tables('')));
});

test('tables that tests create in one request are the same', async () => {
  await house.provision(900);
  const own = JSON.stringify(await tables('_900')).replaceAll('_900', '');
  expect(own).toBe(JSON.stringify(await tables('')));
});

test('a project that shares needs no ClickHouse', async () => {
  statementsLeft = 0;
  const tenantId = await newTenant();
  expect((await newProject(tenantId, 'development')).statusCode).toBe(201);
});

test.each([0, 1, 2, 5])(
  '503, and no project, when ClickHouse fails after %i statements; the next try gets one',
  async (ran) => {
    const tenantId = await newTenant();
    statementsLeft = ran;
    const refused = await newProject(tenantId, 'release');
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'store_unavailable']);
    expect(refused.headers['retry-after']).toBeDefined();
    expect(await projectsOf(tenantId)).toEqual([]);
    const log = await store.postgres.pool.query('select action from audit_log where tenant_id = $1', [
      tenantId,
    ]);
    expect(log.rows).toEqual([{ action: 'tenant.create' }]);
    statementsLeft = Number.POSITIVE_INFINITY;
    expect((await newProject(tenantId, 'release')).statusCode).toBe(201);
  },
);

test('tables that an older release makes after an upgrade have the columns of the newer release', async () => {
  const { clickhouse } = house;
  const known = readMigrations('clickhouse');
  const later = parseMigration(
    `${known.length + 1}_colours.sql`,
    '-- oldest release: 0.1.0\nALTER TABLE usage_events ADD COLUMN IF NOT EXISTS colour String;',
  );
  const tenantId = await newTenant();
  await newProject(tenantId, 'release');
  const suffixes = await dedicatedSuffixes(store.postgres);
  await applyClickHouseMigrations(clickhouse, [...known, later], suffixes);
  await newProject(tenantId, 'release');
  const all = await dedicatedSuffixes(store.postgres);
  expect(all.length).toBe(suffixes.length + 1);
  const rows = await clickhouse.query<{ table: string }>(
    `SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'colour'`,
  );
  expect(rows.map(({ table }) => table).sort()).toEqual(
    ['', ...all].map((suffix) => `usage_events${suffix}`).sort(),
  );
  const [suffix = ''] = all;
  await clickhouse.command(`ALTER TABLE usage_events${suffix} DROP COLUMN colour`);
  await applyClickHouseMigrations(clickhouse, undefined, all);
  expect(await clickhouse.query(`SELECT colour FROM usage_events${suffix}`)).toEqual([]);
});

test('what is missing is made at the next start, and what is there stays', async () => {
  const tenantId = await newTenant();
  await newProject(tenantId, 'release');
  const [project] = await projectsOf(tenantId);
  const suffix = `_${project?.no}`;
  const before = await tables(suffix);
  const { clickhouse } = house;
  await clickhouse.command(`DROP TABLE usage_rollup_view${suffix} SYNC`);
  await clickhouse.command(`DROP TABLE usage_rollup${suffix} SYNC`);
  await clickhouse.command(`INSERT INTO usage_events${suffix} (project_id) VALUES ('prj_kept')`);
  expect(
    await applyClickHouseMigrations(clickhouse, undefined, await dedicatedSuffixes(store.postgres)),
  ).toEqual([]);
  expect(await tables(suffix)).toEqual(before);
  expect(await clickhouse.query(`SELECT project_id FROM usage_events${suffix}`)).toEqual([
    { project_id: 'prj_kept' },
  ]);
});
