import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import { type Migration, parseMigration, readMigrations } from '../migration-files.js';
import type { LockPatience } from './lock-attempts.js';
import { applyMigrations, checkMigrations, type MigrationOptions } from './migrate.js';

const KNOWN = readMigrations('postgres');
const PATIENCE: LockPatience = { waitMsMax: 200, pauseMs: 1, attemptsMax: 1_000 };
const EXPAND = 'alter table segments add column colour text;';

/** The next migrations after those of this release. */
function following(...texts: string[]): Migration[] {
  return [
    ...KNOWN,
    ...texts.map((text, index) => parseMigration(`${KNOWN.length + 1 + index}_step.sql`, text)),
  ];
}

let store: TestPostgres;
let lines: string[];

beforeEach(async () => {
  store = await createTestPostgres();
  lines = [];
});
afterEach(() => store.drop());

function apply(migrations: readonly Migration[], options: MigrationOptions = {}): Promise<string[]> {
  const log = { warn: (line: string) => lines.push(line) };
  return applyMigrations(store.postgres, {
    migrations,
    patience: PATIENCE,
    log: log as unknown as NonNullable<MigrationOptions['log']>,
    ...options,
  });
}

/** Opens a transaction that has read the table; returns how it ends. */
async function openReader(isolation = 'read committed'): Promise<() => Promise<void>> {
  const client = await store.postgres.pool.connect();
  await client.query(`begin isolation level ${isolation}; select from segments`);
  return async () => {
    await client.query('commit');
    client.release();
  };
}

const columns = () =>
  store.beside(
    `select from information_schema.columns where table_name = 'segments' and column_name = 'colour'`,
  );

describe('a migration that waits for a transaction', () => {
  test('lets others write in between, and is applied when the transaction has ended', async () => {
    const endReader = await openReader();
    const applied = apply(following(EXPAND));
    const sentence = new RegExp(
      `^Migration ${KNOWN.length + 1} \\(step\\) did not get AccessExclusiveLock on segments within 200 ms, because of process \\d+ \\(test\\), whose transaction is \\d+ s old\\. Attempt \\d+ of 1000 follows in 1 ms\\.$`,
    );
    await waitFor(() => lines.some((line) => sentence.test(line)), { what: 'the sentence about the lock' });
    const attempts = lines.length;
    // A write that waits behind the migration goes on as soon as the attempt ends.
    await store.postgres.pool.query('lock table segments in row exclusive mode; select 1');
    await waitFor(() => lines.length > attempts, { what: 'another attempt' });
    expect(await columns()).toEqual([]);
    await endReader();
    expect(await applied).toEqual(['step']);
    expect(await columns()).toHaveLength(1);
  });

  test('ends after the last attempt with a sentence, and has changed nothing', async () => {
    const endReader = await openReader();
    const patience = { ...PATIENCE, attemptsMax: 2 };
    const half = `create table half (n integer); ${EXPAND}`;
    await expect(apply(following(half), { patience })).rejects.toThrow(
      /^Migration \d+ \(step\) did not get .* within 200 ms.*, in 2 attempts: look for long transactions in pg_stat_activity, wait for their end or end them, and try again\.$/,
    );
    expect(lines).toHaveLength(1);
    await endReader();
    expect(await store.beside(`select from pg_class where relname = 'half'`)).toEqual([]);
    await expect(apply(KNOWN)).resolves.toEqual([]);
  });

  test('ends with the reason of a signal', async () => {
    const endReader = await openReader();
    const stop = new AbortController();
    const applied = apply(following(EXPAND), {
      signal: stop.signal,
      patience: { ...PATIENCE, pauseMs: 3_600_000 },
    });
    await waitFor(() => lines.length > 0);
    const waiting = apply(following(EXPAND), { signal: stop.signal });
    stop.abort(new Error('stopped'));
    const stopped = { status: 'rejected', reason: new Error('stopped') };
    expect(await Promise.allSettled([applied, waiting])).toEqual([stopped, stopped]);
    await endReader();
  });
});

const INDEX = '-- no transaction\ncreate index concurrently if not exists Segments_step on segments (shard);';
const indexes = () =>
  store.beside(`select indexrelid::integer as id, indisvalid as is_valid from pg_index
    join pg_class on pg_class.oid = indexrelid where relname = 'segments_step'`) as Promise<
    { id: number; is_valid: boolean }[]
  >;

describe('a concurrent index', () => {
  test('is built while services that start wait for their turn', async () => {
    const migrations = following(INDEX);
    const results = await Promise.all([1, 2, 3].map(() => apply(migrations)));
    expect(results.flat()).toEqual(['step']);
    expect(await indexes()).toMatchObject([{ is_valid: true }]);
  });

  test('that was interrupted is dropped and built again, and built once', async () => {
    const migrations = following(INDEX, 'create table after_index (n integer);');
    const endReader = await openReader('repeatable read');
    const interrupted = apply(migrations);
    const outcome = expect(interrupted).rejects.toThrow(/terminat/);
    await waitFor(async () => (await indexes()).length > 0, { what: 'the unfinished index' });
    await store.beside(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'create index concurrently%'`);
    await outcome;
    const [left] = await indexes();
    expect(left?.is_valid).toBe(false);
    await endReader();
    expect(await apply(migrations)).toEqual(['step', 'step']);
    const [built] = await indexes();
    expect(built?.is_valid).toBe(true);
    expect(built?.id).not.toBe(left?.id);
    await store.beside(`delete from schema_migrations where version = ${KNOWN.length + 1}`);
    expect(await apply(migrations)).toEqual(['step']);
    expect(await indexes()).toEqual([built]);
  });

  test.each([
    'create index concurrently on segments (shard)',
    'create index a on segments (shard)',
    'select 1',
  ])(
    'is the only thing that runs outside of a transaction, and can be repeated: not %s',
    async (statement) => {
      await expect(apply(following(`-- no transaction\n${statement};`))).rejects.toThrow(
        `Outside of a transaction, step may only "create index concurrently if not exists" and "drop index concurrently if exists": ${statement}…`,
      );
    },
  );
});

test('a release works with newer migrations if they say so, with and without migrating', async () => {
  await store.beside('alter table schema_migrations drop column oldest_release');
  await checkMigrations(store.postgres);
  expect(await apply(following(`-- oldest release: 0.1.0\n${EXPAND}`))).toEqual(['step']);
  await checkMigrations(store.postgres);
  expect(await apply(KNOWN)).toEqual([]);
  await apply(following(`-- oldest release: 0.1.0\n${EXPAND}`, '-- oldest release: 999.0.0\nselect 1;'));
  const sentence = `The postgres schema has migration ${KNOWN.length + 2} (step), which needs release 999.0.0 or later: this is release`;
  await expect(checkMigrations(store.postgres)).rejects.toThrow(sentence);
  await expect(apply(KNOWN)).rejects.toThrow(sentence);
});
