import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import { transaction } from '../postgres/index.js';
import { ChangeFeed, createNoteDeletionJob, noteAllKeys, noteKeys, noting } from './index.js';

let store: TestPostgres;
let nowMs: number;
let learned: (readonly number[] | undefined)[];
let warnings: number;

beforeAll(async () => {
  store = await createTestPostgres();
});
beforeEach(() => {
  [nowMs, learned, warnings] = [0, [], 0];
});
afterAll(() => store.drop());

const log = {
  warn: () => {
    warnings += 1;
  },
};
const newFeed = (postgres = store.postgres) =>
  new ChangeFeed({
    postgres,
    log,
    monotonicMs: () => nowMs,
    memory: { mark: () => 0, learn: (keys) => learned.push(keys && [...keys].sort()) },
  });

const note = (...keys: number[]) => transaction(store.postgres, (tx) => noteKeys(tx, keys));

/** Returns what a feed learns now. */
async function learnedBy(feed: ChangeFeed): Promise<(readonly number[] | undefined)[]> {
  learned = [];
  await feed.look();
  return learned;
}

describe('a feed', () => {
  it('begins with everything, and then learns each change once', async () => {
    await note(1);
    const feed = newFeed();
    expect(feed.ageMs).toBe(Number.POSITIVE_INFINITY);
    expect(await learnedBy(feed)).toEqual([undefined]);
    expect(await learnedBy(feed)).toEqual([[]]);
    await note(2, -3, 2);
    await note(4);
    expect(await learnedBy(feed)).toEqual([[-3, 2, 4]]);
    expect(await learnedBy(feed)).toEqual([[]]);
  });

  it('learns changes when they are committed, whatever the order in which transactions began', async () => {
    const feed = newFeed();
    await feed.look();
    let endFirst = () => {};
    const isEnded = new Promise<void>((resolve) => {
      endFirst = resolve;
    });
    let hasNoted = () => {};
    const noted = new Promise<void>((resolve) => {
      hasNoted = resolve;
    });
    const first = transaction(store.postgres, async (tx) => {
      await noteKeys(tx, [1]);
      hasNoted();
      await isEnded;
    });
    await noted;
    await note(2);
    expect(await learnedBy(feed)).toEqual([[2]]);
    await note(3);
    expect(await learnedBy(feed)).toEqual([[3]]);
    endFirst();
    await first;
    expect(await learnedBy(feed)).toEqual([[1]]);
    expect(await learnedBy(feed)).toEqual([[]]);
  });

  it('learns nothing of a transaction that is rolled back', async () => {
    const feed = newFeed();
    await feed.look();
    const failed = transaction(store.postgres, async (tx) => {
      await noteKeys(tx, [1]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await learnedBy(feed)).toEqual([[]]);
  });

  it('learns of a statement that notes what it changes, whether or not it finds a row', async () => {
    const feed = newFeed();
    await feed.look();
    await transaction(store.postgres, async (tx) => {
      await sql`${noting([5])} update tenants set name = name where id = 'none'`.execute(tx);
    });
    expect(await learnedBy(feed)).toEqual([[5]]);
  });

  it('learns that anything may have changed', async () => {
    const feed = newFeed();
    await feed.look();
    await note(1);
    await transaction(store.postgres, noteAllKeys);
    expect(await learnedBy(feed)).toEqual([undefined]);
    expect(await learnedBy(feed)).toEqual([[]]);
  });

  it('takes everything for changed while a process of release 0.1.0 runs, which notes nothing', async () => {
    const feed = newFeed();
    await feed.look();
    const old = '00000000-0000-4000-8000-000000000001';
    await store.beside(
      `insert into lease_members (owner, kind, expires_at_ms) values ('${old}', 'rate', 9999999999999)`,
    );
    expect(await learnedBy(feed)).toEqual([undefined]);
    await store.beside(`update lease_members set expires_at_ms = 0 where owner = '${old}'`);
    expect(await learnedBy(feed)).toEqual([[]]);
  });

  it('is as old as the beginning of its last look', async () => {
    const feed = newFeed();
    await feed.look();
    nowMs = 40;
    expect(feed.ageMs).toBe(40);
    const looks = [feed.look(), feed.look()];
    nowMs = 70;
    await Promise.all(looks);
    expect(feed.ageMs).toBe(30);
    expect(learned).toHaveLength(2);
  });

  it('begins anew after a time for which notes may be gone', async () => {
    const feed = newFeed();
    await feed.look();
    nowMs = 20_000;
    expect(await learnedBy(feed)).toEqual([[]]);
    nowMs = 40_001;
    expect(await learnedBy(feed)).toEqual([undefined]);
  });

  it('knows nothing after a failure, warns once, and begins anew', async () => {
    let fails = false;
    const pool = {
      query: (...args: [never]) => (fails ? Promise.reject(new Error('down')) : query(...args)),
    };
    const query = store.postgres.pool.query.bind(store.postgres.pool);
    const feed = newFeed({ ...store.postgres, pool: pool as never });
    await feed.look();
    fails = true;
    expect(await learnedBy(feed)).toEqual([]);
    expect(await learnedBy(feed)).toEqual([]);
    expect(feed.ageMs).toBe(Number.POSITIVE_INFINITY);
    expect(warnings).toBe(1);
    fails = false;
    expect(await learnedBy(feed)).toEqual([undefined]);
    expect(feed.ageMs).toBe(0);
  });
});

describe('the deletion of notes', () => {
  it('takes those that were committed before the sweep before it', async () => {
    const { sweep } = createNoteDeletionJob({ postgres: store.postgres, log });
    const notes = async () => {
      const rows = (await store.beside('select keys from key_changes')) as { keys: number[] }[];
      return rows.map(({ keys }) => keys);
    };
    await note(1);
    await sweep();
    expect(await notes()).toContainEqual([1]);
    await note(2);
    await sweep();
    expect(await notes()).toContainEqual([2]);
    // A transaction of another test that began before the notes delays their deletion.
    const areGone = async () => {
      await sweep();
      return (await notes()).length === 0;
    };
    await waitFor(areGone, { what: 'the deletion of the notes' });
  });
});
