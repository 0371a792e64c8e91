import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Migration,
  parseMigration,
  readMigrations,
  type StoreName,
} from '../packages/service/src/platform/migration-files.js';
import { applyMigrations, type MigrationOptions } from '../packages/service/src/platform/postgres/index.js';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { AcknowledgedLoad } from './support/acknowledged-load.js';
import { copyProgram } from './support/program-copy.js';
import { migrationsOf, readReleases, STORE_NAMES, versionsOf } from './support/releases.js';
import { type CommandResult, newService, type RunningService } from './support/service.js';

const ROLES = ['api', 'worker', 'projector'] as const;
type Processes = Readonly<Record<(typeof ROLES)[number], RunningService>>;
type Migrations = Readonly<Record<StoreName, readonly Migration[]>>;

const RELEASES = readReleases();
const BEFORE = versionsOf(RELEASES).at(-1) as string;
const NEXT = '1000.0.0';
const AFTER_NEXT = '1001.0.0';

/** The migrations of the next release: it expands tables that the release before writes all the time. */
const EXPANDING: Migrations = {
  postgres: [
    `-- oldest release: ${BEFORE}
alter table segments add column colour text;`,
    `-- oldest release: ${BEFORE}
alter table usage_batches add column colour text not null default 'blue';
create table colours (name text primary key);`,
    `-- oldest release: ${BEFORE}
-- no transaction
create index concurrently if not exists usage_event_ids_colour on usage_event_ids (raw_event_id);`,
  ].map((sql, index) => following('postgres', sql, index)),
  clickhouse: [
    following(
      'clickhouse',
      `-- oldest release: ${BEFORE}\nALTER TABLE usage_events ADD COLUMN IF NOT EXISTS colour String;`,
    ),
  ],
  directory: [],
};

/** Returns a migration after those of this program. */
function following(store: StoreName, sql: string, index = 0): Migration {
  return parseMigration(`${readMigrations(store).length + 1 + index}_step.sql`, sql);
}

function all(store: StoreName): Migration[] {
  return [...readMigrations(store), ...EXPANDING[store]];
}

/** A migration that must lock a table into which every accepted event is written. */
const shaped = following(
  'postgres',
  `-- oldest release: ${BEFORE}\nalter table segments add column shape text;`,
  EXPANDING.postgres.length,
);

const byStore = (migrations: (store: StoreName) => readonly Migration[]) =>
  Object.fromEntries(STORE_NAMES.map((store) => [store, migrations(store)])) as Migrations;

const PROJECTS = 3;
const BATCHES = 5;
/** Enough to be in progress all the time, and so few that the workers keep up. */
const BATCHES_AHEAD = 8;
const TIMEOUT_MS = 360_000;

describe(`an upgrade from ${BEFORE} while events arrive`, () => {
  let postgres: TestPostgres;
  let clickhouse: TestClickHouse;
  let before: Processes;
  let next: Processes;
  let load: AcknowledgedLoad;

  async function processesOf(program: string): Promise<Processes> {
    const env = {
      TOLLGATE_DATABASE_URL: postgres.connectionString,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
    };
    const process = (role: string) =>
      newService({ program, args: ['serve', '--roles', role], env, startsEmpty: true });
    const [api, worker, projector] = await Promise.all([
      process('api'),
      process('worker'),
      process('projector'),
    ]);
    return { api, worker, projector };
  }

  beforeAll(async () => {
    [postgres, clickhouse] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
    const fixed = (store: StoreName) =>
      migrationsOf(store, RELEASES[BEFORE]?.[store] as { readonly last: number });
    before = await processesOf(copyProgram(BEFORE, byStore(fixed)));
    next = await processesOf(copyProgram(NEXT, byStore(all)));
    await startAll(before);
    load = await AcknowledgedLoad.create([before.api, next.api], PROJECTS);
    load.start(BATCHES_AHEAD);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await load?.stop();
    for (const processes of [before, next]) for (const role of ROLES) await processes?.[role].stop();
    await Promise.all([clickhouse?.drop(), postgres?.drop()]);
  });

  async function startAll(processes: Processes): Promise<void> {
    await Promise.all(ROLES.map((role) => processes[role].start()));
  }

  async function stopAll(processes: Processes): Promise<void> {
    expect(await Promise.all(ROLES.map((role) => processes[role].terminate()))).toEqual([0, 0, 0]);
  }

  async function expectEqualStores({ api }: Processes): Promise<void> {
    const { exitCode, output } = await api.runCommand(['verify']);
    expect([exitCode, output]).toEqual([0, expect.stringContaining('Everything is equal')]);
  }

  it(
    'goes on with processes of both releases, forward and back, and counts every accepted event once',
    async () => {
      const migrated = next.api.runCommand(['migrate']);
      await load.goOn(BATCHES);
      const { exitCode, output } = await migrated;
      expect([exitCode, output]).toEqual([0, expect.stringContaining('Applied step, step, step, step.')]);
      await load.goOn(BATCHES);

      // A process of the release before starts on the newer schema, whether it may migrate or not.
      await next.api.start();
      for (const [role, migrate] of [
        ['api', '1'],
        ['worker', '0'],
        ['projector', '1'],
      ] as const) {
        expect(await before[role].terminate()).toBe(0);
        await before[role].start({ TOLLGATE_MIGRATE: migrate });
      }
      await load.goOn(BATCHES);

      for (const role of ['worker', 'projector'] as const) await next[role].start();
      await stopAll(before);
      await load.goOn(BATCHES);

      await startAll(before);
      await stopAll(next);
      await load.goOn(BATCHES);

      await load.stop();
      await load.expectAllOnce();
      await expectEqualStores(before);
      await expectEqualStores(next);
    },
    TIMEOUT_MS,
  );

  it(
    'accepts events while a migration waits for a long SELECT, and applies it afterwards',
    async () => {
      const reader = await postgres.postgres.pool.connect();
      await reader.query('begin; select count(*) from segments');
      load.start(BATCHES_AHEAD);
      await load.goOn(1);
      const lines: string[] = [];
      const log = { warn: (line: string) => lines.push(line) } as unknown as MigrationOptions['log'];
      const migrations = [...all('postgres'), shaped];
      const applied = applyMigrations(postgres.postgres, { migrations, log });
      const problem = 'did not get AccessExclusiveLock on segments within 1000 ms, because of process';
      await waitFor(() => lines.some((line) => line.includes(problem)), { timeoutMs: TIMEOUT_MS });
      await load.goOn(BATCHES);
      const isThere = `select from information_schema.columns where column_name = 'shape'`;
      expect(await postgres.beside(isThere)).toEqual([]);
      await reader.query('commit');
      reader.release();
      expect(await applied).toEqual(['step']);
      expect(await postgres.beside(isThere)).toHaveLength(1);
      await load.goOn(BATCHES);
      await load.stop();
      await load.expectAllOnce();
      await expectEqualStores(before);
    },
    TIMEOUT_MS,
  );

  it(
    'ends with a migration that leaves both releases behind: they start no more, and say why in one sentence',
    async () => {
      await stopAll(before);
      const known = [...all('postgres'), shaped];
      const contracting = following(
        'postgres',
        `-- oldest release: ${AFTER_NEXT}\nalter table segments drop column colour;`,
        EXPANDING.postgres.length + 1,
      );
      await applyMigrations(postgres.postgres, { migrations: [...known, contracting] });
      const expectSentence = ({ exitCode, stdout, stderr }: CommandResult, release: string) => {
        const sentence = `The postgres schema has migration ${contracting.version} (step), which needs release ${AFTER_NEXT} or later: this is release ${release}.`;
        expect([exitCode, stdout, stderr]).toEqual([1, '', `tollgate: ${sentence}\n`]);
      };
      expectSentence(await before.api.runCommand(['serve']), BEFORE);
      expectSentence(await next.worker.runCommand(['serve', '--no-migrate', '--roles', 'worker']), NEXT);
      expectSentence(await next.api.runCommand(['verify']), NEXT);
    },
    TIMEOUT_MS,
  );
});
