import { Socket } from 'node:net';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { connectPostgres, transaction } from './connect.js';
import { isForeignKeyViolation, isUnavailable, isUniqueViolation } from './errors.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

const log = pino({ level: 'silent' });
const tenant = (id: string) => ({ id, name: 'Ünïcode', created_at: 1_750_000_000 });

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable('it should have failed'),
    (error: unknown) => error,
  );
}

test('a connection notices soon that its server is gone', async () => {
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  try {
    const own = connectPostgres({
      connection: store.connectionString,
      applicationName: 'keep-alive',
      poolMax: 1,
      log,
    });
    await own.pool.query('select 1');
    await own.close();
    expect(keepAlive).toHaveBeenCalledWith(true, 10_000);
  } finally {
    keepAlive.mockRestore();
  }
});

describe('values', () => {
  test('bigint arrives as an exact number, numeric as text, bytea as bytes', async () => {
    const { rows } = await store.postgres.pool.query(
      `select 9007199254740991::bigint as most, '{1,NULL,-2}'::bigint[] as list, 0.100000000000000001::numeric as exact,
         '\\x00ff80'::bytea as bytes, null::bigint as none`,
    );
    expect(rows[0]).toEqual({
      most: Number.MAX_SAFE_INTEGER,
      list: [1, null, -2],
      exact: '0.100000000000000001',
      bytes: Buffer.from([0, 255, 128]),
      none: null,
    });
  });

  test('a bigint past the exact range is an error, never a wrong number', async () => {
    await expect(store.postgres.pool.query('select 9007199254740993::bigint')).rejects.toThrow(RangeError);
  });

  test('case is known beyond ASCII', async () => {
    const { rows } = await store.postgres.pool.query(`select 'ÄÖ' ilike 'äö' as same, 'Z' < 'a' as by_bytes`);
    expect(rows[0]).toEqual({ same: true, by_bytes: true });
  });
});

describe('transaction', () => {
  test('is never begun on a connection that was left in the middle of another', async () => {
    const { pool } = store.postgres;
    const client = await pool.connect();
    await client.query('begin');
    await failureOf(client.query('select 1 / 0'));
    client.release();
    const work = () => transaction(store.postgres, (tx) => sql`select 1`.execute(tx));
    await Promise.all(Array.from({ length: pool.options.max ?? 1 }, work));
  });

  test('is committed as a whole', async () => {
    await transaction(store.postgres, async (tx) => {
      await tx.insertInto('tenants').values(tenant('ten_a')).execute();
      await tx.insertInto('tenants').values(tenant('ten_b')).execute();
    });
    const rows = await store.postgres.db.selectFrom('tenants').select('id').orderBy('id').execute();
    expect(rows).toEqual([{ id: 'ten_a' }, { id: 'ten_b' }]);
  });

  test('leaves nothing behind when it fails', async () => {
    const failed = transaction(store.postgres, async (tx) => {
      await tx.insertInto('tenants').values(tenant('ten_c')).execute();
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    const rows = await store.postgres.db
      .selectFrom('tenants')
      .where('id', '=', 'ten_c')
      .selectAll()
      .execute();
    expect(rows).toEqual([]);
  });
});

describe('errors', () => {
  test('kinds of violations are recognised and name their constraint', async () => {
    const insert = (id: string) => store.postgres.db.insertInto('tenants').values(tenant(id)).execute();
    await insert('ten_twice');
    const unique = await failureOf(insert('ten_twice'));
    expect(isUniqueViolation(unique)).toBe(true);
    expect(isUniqueViolation(unique, 'tenants_pkey')).toBe(true);
    expect(isUniqueViolation(unique, 'another')).toBe(false);
    expect(isUnavailable(unique)).toBe(false);
    const orphan = {
      tenant_id: 'none',
      id: 'prj_x',
      name: 'x',
      kind: 'release',
      storage: 'shared',
      created_at: 1,
    };
    const foreign = await failureOf(store.postgres.db.insertInto('projects').values(orphan).execute());
    expect(isForeignKeyViolation(foreign)).toBe(true);
  });

  test('a terminated connection means: unavailable; and the pool recovers', async () => {
    const ended = transaction(store.postgres, async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await store.postgres.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await sql`select 1`.execute(tx);
    });
    expect(isUnavailable(await failureOf(ended))).toBe(true);
    expect((await store.postgres.pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
  });

  test.each([
    ['no socket', { host: '/nowhere', port: 1, user: 'a', password: 'b', database: 'c' }],
    ['nobody listens', 'postgresql://a:b@127.0.0.1:1/c'],
  ])('%s means: unavailable', async (_, connection) => {
    const absent = connectPostgres({ connection, applicationName: 'test', poolMax: 1, log });
    expect(isUnavailable(await failureOf(absent.pool.query('select 1')))).toBe(true);
    await absent.close();
  });

  test('no response in time means: unavailable', async () => {
    const query = { text: 'select pg_sleep(60)', query_timeout: 50 };
    expect(isUnavailable(await failureOf(store.postgres.pool.query(query)))).toBe(true);
  });

  test('other failures are not', () => {
    expect(isUnavailable(new Error('syntax error'))).toBe(false);
    expect(isUnavailable(Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' }))).toBe(
      false,
    );
    expect(isUnavailable('text')).toBe(false);
    expect(isUnavailable(undefined)).toBe(false);
  });
});

test('a connection string reaches the same database', async () => {
  const other = connectPostgres({
    connection: store.connectionString,
    applicationName: 'other',
    poolMax: 1,
    log,
  });
  const name = 'select current_database() as name';
  expect((await other.pool.query(name)).rows).toEqual((await store.postgres.pool.query(name)).rows);
  await other.close();
});
