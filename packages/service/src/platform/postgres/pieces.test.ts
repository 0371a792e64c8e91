import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { queryWithPieces } from './pieces.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
  await store.postgres.pool.query('create table pieces_test (what text primary key, bytes bytea)');
});
beforeEach(() => store.postgres.pool.query('delete from pieces_test'));
afterAll(() => store.drop());

/** More than a socket takes at once. */
const LARGE = Buffer.alloc(300_000, 'abcdefg');

const insert = (
  what: string,
  pieces: readonly Buffer[],
  text = 'insert into pieces_test values ($1, $2)',
) => ({
  name: `pieces-${text.length}`,
  text,
  values: [what],
  pieces,
  timeoutMs: 10_000,
});

/** As text, which is quickly compared. */
async function stored(): Promise<Record<string, string>> {
  const { rows } = await store.postgres.pool.query<{ what: string; bytes: Buffer }>('table pieces_test');
  return Object.fromEntries(rows.map(({ what, bytes }) => [what, bytes.toString('latin1')]));
}

describe('a statement with bytes in pieces', () => {
  it.each([
    ['none', []],
    ['an empty one', [Buffer.of()]],
    ['one', [Buffer.of(0, 1, 0x42, 255)]],
    ['some, large and small', [Buffer.of(1), LARGE, Buffer.of(), Buffer.of(2, 3), LARGE]],
  ])('stores what the pieces are together: %s', async (what, pieces) => {
    const { pool } = store.postgres;
    // The first time on a connection it is parsed, then it is known.
    for (const time of ['first', 'second']) await queryWithPieces(pool, insert(`${what} ${time}`, pieces));
    const bytes = Buffer.concat(pieces).toString('latin1');
    expect(await stored()).toEqual({ [`${what} first`]: bytes, [`${what} second`]: bytes });
  });

  it('leaves what else is asked at the same time as it is', async () => {
    const { pool } = store.postgres;
    const others = Array.from({ length: 20 }, (_, index) =>
      pool.query('insert into pieces_test values ($1, $2)', [`other ${index}`, Buffer.of(0x42, index)]),
    );
    const ours = Array.from({ length: 20 }, (_, index) =>
      queryWithPieces(pool, insert(`our ${index}`, [LARGE, Buffer.of(index)])),
    );
    await Promise.all([...others, ...ours]);
    const expected = Array.from({ length: 20 }, (_, index) => [
      [`other ${index}`, Buffer.of(0x42, index).toString('latin1')],
      [`our ${index}`, Buffer.concat([LARGE, Buffer.of(index)]).toString('latin1')],
    ]).flat();
    expect(await stored()).toEqual(Object.fromEntries(expected));
  });

  it('fails as any other, with nothing stored', async () => {
    const { pool } = store.postgres;
    await queryWithPieces(pool, insert('one', [LARGE]));
    await expect(queryWithPieces(pool, insert('one', [LARGE]))).rejects.toMatchObject({ code: '23505' });
    await queryWithPieces(pool, insert('two', [LARGE]));
    expect(Object.keys(await stored())).toEqual(['one', 'two']);
  });

  it('fails when there is no answer in time', async () => {
    const slow = insert('slow', [LARGE], 'insert into pieces_test select $1, $2 from pg_sleep(60)');
    await expect(queryWithPieces(store.postgres.pool, { ...slow, timeoutMs: 50 })).rejects.toThrow(/timeout/);
    await store.postgres.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(60)' and pid <> pg_backend_pid()`,
    );
    expect(await stored()).toEqual({});
  });
});
