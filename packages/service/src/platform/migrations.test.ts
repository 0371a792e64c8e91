import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
} from '../testing/index.js';
import {
  applyClickHouseMigrations,
  type ClickHouse,
  checkClickHouseMigrations,
  createTableCopy,
  type QueryParams,
} from './clickhouse/index.js';
import { type Migration, parseMigration, pendingMigrations, readMigrations } from './migration-files.js';
import { applyMigrations, checkMigrations } from './postgres/index.js';

const made = (version: number, sql: string): Migration => parseMigration(`${version}_step.sql`, sql);
const after = (store: 'postgres' | 'clickhouse', sql: string): Migration[] => {
  const known = readMigrations(store);
  return [...known, made(known.length + 1, sql)];
};

describe('files', () => {
  test('are read in order, without gaps', () => {
    for (const store of ['postgres', 'clickhouse'] as const) {
      const versions = readMigrations(store).map(({ version }) => version);
      expect(versions).toEqual(versions.map((_, index) => index + 1));
    }
  });

  test('line endings do not change a checksum, anything else does', () => {
    expect(made(1, 'a\r\nb').checksum).toBe(made(1, 'a\nb').checksum);
    expect(made(1, 'a\nb').checksum).not.toBe(made(1, 'a\nb ').checksum);
  });

  test('say which releases work with them, and whether they need a transaction', () => {
    const head = '-- oldest release: 0.2.0\n-- no transaction\n';
    expect(made(1, `${head}select 1;`)).toMatchObject({ oldestRelease: '0.2.0', isInTransaction: false });
    const text = `select '${head}';`;
    expect(made(1, text.replaceAll('\n', ' '))).toMatchObject({
      oldestRelease: undefined,
      isInTransaction: true,
    });
  });

  test.each(['init.sql', '1.sql', '1_Init.sql', '1_init.txt'])('%s is not a name of a migration', (file) => {
    expect(() => parseMigration(file, '')).toThrow('is not named like');
  });
});

describe('what is pending', () => {
  const files = [made(1, 'a'), made(2, 'b')];
  test('is what was not applied', () => {
    expect(pendingMigrations('postgres', files, [])).toEqual(files);
    expect(pendingMigrations('postgres', files, files.slice(0, 1))).toEqual(files.slice(1));
    expect(pendingMigrations('postgres', files, files)).toEqual([]);
  });

  test('a changed file is refused', () => {
    expect(() => pendingMigrations('postgres', files, [made(1, 'other')])).toThrow(
      'Migration 1 (step) of postgres was changed after it had been applied: add a new one instead.',
    );
  });

  test('a newer database is refused, unless it says that this release works with it', () => {
    const pending = (oldest_release: string | null, release: string) =>
      pendingMigrations('clickhouse', files, [...files, { ...made(3, 'c'), oldest_release }], release);
    for (const oldest of [null, '']) {
      expect(() => pending(oldest, '0.9.0')).toThrow(
        'The clickhouse schema has migration 3 (step), which this release (0.9.0) does not know: run a newer release.',
      );
    }
    expect(pending('0.9.0', '0.9.0')).toEqual([]);
    expect(pending('0.9.0', '0.10.0')).toEqual([]);
    expect(() => pending('0.10.0', '0.9.0')).toThrow(
      'The clickhouse schema has migration 3 (step), which needs release 0.10.0 or later: this is release 0.9.0.',
    );
  });

  test('of a release that knows only the first files is what these lack', () => {
    const applied = [made(1, 'a'), { ...made(3, 'c'), oldest_release: '0.1.0' }];
    expect(pendingMigrations('postgres', files, applied, '0.1.0')).toEqual(files.slice(1));
  });
});

describe('PostgreSQL', () => {
  let store: TestPostgres;
  beforeAll(async () => {
    store = await createTestPostgres();
  });
  afterAll(() => store.drop());

  test('nothing is applied twice', async () => {
    expect(await applyMigrations(store.postgres)).toEqual([]);
  });

  test('a check says what is pending, and changes nothing', async () => {
    await checkMigrations(store.postgres);
    const empty = await createTestPostgres({ isEmpty: true });
    try {
      const all = readMigrations('postgres').length;
      await expect(checkMigrations(empty.postgres)).rejects.toThrow(
        `The postgres schema is not up to date (pending migrations: ${all}): run tollgate migrate.`,
      );
      expect(await empty.beside(`select from pg_tables where schemaname = 'public'`)).toEqual([]);
    } finally {
      await empty.drop();
    }
  });

  test('a migration that fails leaves nothing behind', async () => {
    const broken = after('postgres', 'create table half (n integer); select 1 / 0;');
    await expect(applyMigrations(store.postgres, { migrations: broken })).rejects.toThrow('division by zero');
    const { rows } = await store.postgres.pool.query(`select to_regclass('half') as found`);
    expect(rows).toEqual([{ found: null }]);
  });

  test('windows that were stored before their lists were checked are checked by the upgrade', async () => {
    const { pool } = store.postgres;
    const steps = readMigrations('postgres').filter(({ name }) => name.startsWith('window_list_lengths'));
    const upgrade = async () => {
      for (const { sql } of steps) await pool.query(sql);
    };
    await pool.query(`alter table current_windows drop constraint current_windows_of_one_length;
      insert into current_windows values (1, 'user', 'u1', '{7}', '{0}', '{null}', '{1.5}', '{10}', '{null}', '{3}')`);
    await upgrade();
    const { rows } = await pool.query(
      `select convalidated from pg_constraint where conname = 'current_windows_of_one_length'`,
    );
    expect(rows).toEqual([{ convalidated: true }]);
    await pool.query(`alter table current_windows drop constraint current_windows_of_one_length;
      update current_windows set used = '{}'`);
    await expect(upgrade()).rejects.toMatchObject({ constraint: 'current_windows_of_one_length' });
  });

  test('of services that start together one applies, the others wait', async () => {
    const extended = after('postgres', 'create table whole (n integer);');
    const results = await Promise.all(
      [1, 2, 3].map(() => applyMigrations(store.postgres, { migrations: extended })),
    );
    expect(results.flat()).toEqual(['step']);
    await expect(applyMigrations(store.postgres)).rejects.toThrow('run a newer release');
  });
});

describe('ClickHouse', () => {
  let store: TestClickHouse;
  beforeAll(async () => {
    store = await createTestClickHouse();
  });
  afterAll(() => store.drop());

  test('a user that may only read is enough when nothing is pending', async () => {
    const { clickhouse } = store;
    await createTableCopy(clickhouse, '_7');
    const reading: ClickHouse = Object.assign(Object.create(clickhouse), {
      query: (sql: string, params?: QueryParams) => clickhouse.query(sql, params),
      command: () =>
        Promise.reject(Object.assign(new Error('Not enough privileges.'), { type: 'ACCESS_DENIED' })),
    });
    await expect(applyClickHouseMigrations(reading, undefined, ['_8'])).rejects.toThrow(
      'The clickhouse schema is not up to date, and this user may not change it: run tollgate migrate with a user that may.',
    );
    expect(await applyClickHouseMigrations(reading, undefined, ['_7'])).toEqual([]);
    await checkClickHouseMigrations(reading, ['_7']);
    await expect(checkClickHouseMigrations(reading, ['_8'])).rejects.toThrow(
      'ClickHouse lacks tables of a project with dedicated storage (their names end in _8): run tollgate migrate.',
    );
  });

  test('a check says what is pending, and changes nothing', async () => {
    const fresh = await createTestClickHouse();
    try {
      const all = readMigrations('clickhouse').length;
      const message = `The clickhouse schema is not up to date (pending migrations: ${all}): run tollgate migrate.`;
      await fresh.clickhouse.command('TRUNCATE TABLE schema_migrations');
      await expect(checkClickHouseMigrations(fresh.clickhouse, [])).rejects.toThrow(message);
      await fresh.clickhouse.command('DROP TABLE schema_migrations');
      await expect(checkClickHouseMigrations(fresh.clickhouse, [])).rejects.toThrow(message);
    } finally {
      await fresh.drop();
    }
  });

  test('a migration that was cut short is completed by the next start', async () => {
    const first = 'CREATE TABLE IF NOT EXISTS a (n UInt8) ENGINE = MergeTree ORDER BY n;\n';
    const broken = after(
      'clickhouse',
      `${first}CREATE TABLE IF NOT EXISTS b (n Nonsense) ENGINE = Memory;\n`,
    );
    await expect(applyClickHouseMigrations(store.clickhouse, broken)).rejects.toMatchObject({
      type: 'UNKNOWN_TYPE',
    });
    const mended = after('clickhouse', `${first}CREATE TABLE IF NOT EXISTS b (n UInt8) ENGINE = Memory;\n`);
    expect(await applyClickHouseMigrations(store.clickhouse, mended)).toEqual(['step']);
    expect(await applyClickHouseMigrations(store.clickhouse, mended)).toEqual([]);
    await expect(applyClickHouseMigrations(store.clickhouse)).rejects.toThrow('run a newer release');
  });

  test('a statement that could not be repeated is refused', async () => {
    const careless = made(1, 'CREATE TABLE a (n UInt8) ENGINE = Memory;');
    const fresh = await createTestClickHouse();
    try {
      await fresh.clickhouse.command('TRUNCATE TABLE schema_migrations');
      await expect(applyClickHouseMigrations(fresh.clickhouse, [careless])).rejects.toThrow(
        'cannot be repeated safely',
      );
    } finally {
      await fresh.drop();
    }
  });
});
