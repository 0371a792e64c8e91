import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrateDirectory, putCell } from '../packages/service/src/modules/cells/index.js';
import { readMigrations } from '../packages/service/src/platform/migration-files.js';
import { endConnections, oldestTransactionMs } from '../packages/service/src/platform/postgres/index.js';
import { readGuide } from '../packages/service/src/testing/guide.js';
import {
  connectTo,
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { processSampleEvents } from './support/sample-project.js';
import { type CommandResult, newService, type RunningService } from './support/service.js';

const [PREPARATION = '', GRANTS = ''] = readGuide('postgresql').blocks('sql');
const EVENTS = 50;

let postgres: TestPostgres;
let clickhouse: TestClickHouse;
let service: RunningService;
let owner: string;
let server: string;

/** Returns the URL of the database for one of the roles of the guide. */
function urlFor(role: 'owner' | 'service'): string {
  const url = new URL(postgres.connectionString);
  [url.username, url.password] = [`tollgate_${role}`, `password of the ${role}`];
  return url.toString();
}

beforeAll(async () => {
  postgres = await createTestPostgres({ isEmpty: true });
  clickhouse = await createTestClickHouse();
  await postgres.beside(PREPARATION);
  [owner, server] = [urlFor('owner'), urlFor('service')];
  const env = { TOLLGATE_DATABASE_URL: server, TOLLGATE_CLICKHOUSE_URL: clickhouse.url };
  service = await newService({ args: ['serve'], env, startsEmpty: true });
});
afterAll(async () => {
  await service.stop();
  await clickhouse.drop();
  await postgres.beside(
    'drop owned by tollgate_service, tollgate_owner; drop role tollgate_service, tollgate_owner',
  );
  await postgres.drop();
});

function expectSentence({ exitCode, stdout, stderr }: CommandResult, sentence: string): void {
  expect([exitCode, stdout, stderr]).toEqual([1, '', `tollgate: ${sentence}\n`]);
}

const MIGRATIONS = readMigrations('postgres').length;

it('a role that may not create tables cannot start before the owner has migrated', async () => {
  expectSentence(
    await service.runCommand(['serve']),
    'The postgres schema is not up to date, and this role may not change it (permission denied for schema tollgate): run tollgate migrate with the role that owns the tables.',
  );
  expectSentence(
    await service.runCommand(['serve', '--no-migrate']),
    `The postgres schema is not up to date (pending migrations: ${MIGRATIONS}): run tollgate migrate.`,
  );
});

it('the owner migrates, and the role of the guide serves everything', async () => {
  const { exitCode, output } = await service.runCommand(['migrate'], {
    TOLLGATE_DATABASE_URL: owner,
    TOLLGATE_MIGRATE: '0',
  });
  expect([exitCode, output]).toEqual([0, expect.stringContaining('Applied init')]);
  await service.start({ TOLLGATE_MIGRATE: '0' });
  await processSampleEvents(service, EVENTS);
  const verified = await service.runCommand(['verify']);
  expect([verified.exitCode, verified.output]).toEqual([0, expect.stringContaining('Everything is equal')]);
  expect(await service.terminate()).toBe(0);
});

it('the role may lock tables, and see and end its own connections', async () => {
  const [serving, lost] = [connectTo(server), connectTo(server, 'lost')];
  const client = await lost.pool.connect();
  await client.query(`begin; lock table event_quotas, event_quota_counters in share row exclusive mode;
    lock table tenant_moves, usage_event_totals in share mode`);
  await waitFor(async () => (await oldestTransactionMs(serving)) > 0);
  await endConnections(serving, 'lost');
  await expect(client.query('commit')).rejects.toThrow();
  client.release(true);
  await Promise.all([serving.close(), lost.close()]);
});

it('a role that lacks a right on a table is refused, until it gets the rights of the guide', async () => {
  const problem = `TOLLGATE_DATABASE_URL cannot be used (localhost:5432${new URL(server).pathname}): the role "tollgate_service" lacks rights on`;
  const advice = 'grant it the rights in docs/guides/postgresql.md.';
  await postgres.beside('revoke update on tollgate.wallets from tollgate_service');
  expectSentence(await service.runCommand(['verify']), `${problem} the table wallets: ${advice}`);
  await postgres.beside('revoke all on all sequences in schema tollgate from tollgate_service');
  await postgres.beside('grant update on tollgate.wallets to tollgate_service');
  expectSentence(
    await service.runCommand(['verify']),
    `${problem} the sequence event_quota_counter_numbers: ${advice}`,
  );
  await postgres.beside('revoke all on tollgate.schema_migrations from tollgate_service');
  await postgres.beside('grant usage on all sequences in schema tollgate to tollgate_service');
  expectSentence(await service.runCommand(['verify']), `${problem} the table schema_migrations: ${advice}`);
  await postgres.beside(GRANTS);
  expect((await service.runCommand(['verify'])).exitCode).toBe(0);
});

it('only the owner can start for the first time as a cell, and the role of the guide from then on', async () => {
  const directory = await createTestPostgres({ isEmpty: true });
  try {
    await migrateDirectory(directory.postgres);
    await putCell(directory.postgres, { name: 'eu-1', url: service.url, capacity: 1 });
    const cell = { TOLLGATE_CELL: 'eu-1', TOLLGATE_DIRECTORY_URL: directory.connectionString };
    expectSentence(
      await service.runCommand(['serve'], cell),
      'The identity columns are not limited to the numbers of this cell, and this role may not change them (must be owner of table projects): start one process once with the role that owns the tables.',
    );
    await service.start({ ...cell, TOLLGATE_DATABASE_URL: owner });
    expect(await service.terminate()).toBe(0);
    await service.start(cell);
    await processSampleEvents(service, EVENTS);
    expect(await service.terminate()).toBe(0);
  } finally {
    await directory.drop();
  }
});

it('a role that may not create tables cannot set up the directory, nor use one without the rights', async () => {
  const directory = await createTestPostgres({ isEmpty: true });
  try {
    // It is the first schema in the search paths of both roles, because the owner of the tables is named tollgate.
    await directory.beside('create schema tollgate; grant usage on schema tollgate to tollgate_service');
    const url = new URL(directory.connectionString);
    [url.username, url.password] = ['tollgate_service', 'password of the service'];
    const cell = { TOLLGATE_CELL: 'eu-1', TOLLGATE_DIRECTORY_URL: url.toString() };
    expectSentence(
      await service.runCommand(['serve'], cell),
      'The directory schema is not up to date, and this role may not change it (permission denied for schema tollgate): run tollgate cell list with the role that owns the tables.',
    );
    await migrateDirectory(directory.postgres);
    expectSentence(
      await service.runCommand(['serve'], cell),
      `TOLLGATE_DIRECTORY_URL cannot be used (localhost:5432${url.pathname}): the role "tollgate_service" lacks rights on the table addresses: grant it the rights in docs/guides/postgresql.md.`,
    );
  } finally {
    await directory.drop();
  }
});
