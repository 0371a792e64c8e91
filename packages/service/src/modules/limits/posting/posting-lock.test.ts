import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Tx, transaction } from '../../../platform/postgres/index.js';
import { createTestPostgres, type TestPostgres, waitFor } from '../../../testing/index.js';
import { lockPosting } from './store.js';

describe('the posting lock', () => {
  let test: TestPostgres;

  beforeEach(async () => {
    test = await createTestPostgres();
  });

  afterEach(() => test.drop());

  /** Runs `lock` in a transaction that stays open until `end` is called. */
  async function hold(lock: (tx: Tx) => Promise<unknown>) {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let isHeld = () => {};
    const held = new Promise<void>((resolve) => {
      isHeld = resolve;
    });
    const done = transaction(test.postgres, async (tx) => {
      await lock(tx);
      isHeld();
      await ended;
    });
    return {
      held,
      end: async () => {
        end();
        await done;
      },
    };
  }

  const waiting = async () =>
    (
      await test.beside(`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`)
    ).length;

  it('keeps out transactions for projects of the same slot, and no others', async () => {
    const first = await hold((tx) => lockPosting(tx, [7, 8]));
    await first.held;
    const other = await hold((tx) => lockPosting(tx, [9, 6 + 64]));
    await other.held;
    const same = await hold((tx) => lockPosting(tx, [9 + 64, 8 + 2 * 64, 10]));
    await waitFor(async () => (await waiting()) === 1);
    await first.end();
    await waitFor(async () => (await waiting()) === 1); // it waits for slot 9 now
    await other.end();
    await same.held;
    await same.end();
  });

  it('excludes a worker of the previous version, which locks all projects at once', async () => {
    const before = (tx: Tx) =>
      sql`select pg_advisory_xact_lock(hashtextextended('tollgate-posting', 0))`.execute(tx);
    const now = await hold((tx) => lockPosting(tx, [3]));
    await now.held;
    const old = await hold(before);
    await waitFor(async () => (await waiting()) === 1);
    await now.end();
    await old.held;
    const next = await hold((tx) => lockPosting(tx, [4]));
    await waitFor(async () => (await waiting()) === 1);
    await old.end();
    await next.held;
    await next.end();
  });

  it('does not let transactions deadlock, in whatever order they name their projects', async () => {
    const projects = [5, 70, 2, 63, 130];
    const rounds = Array.from({ length: 60 }, (_, round) =>
      transaction(test.postgres, async (tx) => {
        await lockPosting(tx, round % 2 === 0 ? projects : projects.toReversed());
        await nextTurn();
      }),
    );
    expect((await Promise.allSettled(rounds)).filter(({ status }) => status === 'rejected')).toEqual([]);
  });
});
