import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import { type Tx, transaction } from '../postgres/index.js';
import { ChangeFeed, createNoteDeletionJob, noteAllKeys, noteKeys, noting } from './index.js';

let store: TestPostgres;
let nowMs: number;
let learned: (readonly number[] | undefined)[];
let warnings: number;
let duringLearn: (tx: Tx) => Promise<void>;

beforeAll(async () => {
  store = await createTestPostgres();
});
beforeEach(() => {
  [nowMs, learned, warnings] = [0, [], 0];
  duringLearn = async () => {};
});
afterAll(() => store.drop());

const log = {
  warn: () => {
    warnings += 1;
  },
};
const newFeed = () =>
  new ChangeFeed({
    postgres: store.postgres,
    log,
    monotonicMs: () => nowMs,
    memory: {
      mark: () => 0,
      learn: async (keys, _mark, tx) => {
        learned.push(keys && [...keys].sort());
        await duringLearn(tx);
      },
    },
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

  it('shows the database as it was when the changes were read', async () => {
    const feed = newFeed();
    await feed.look();
    await note(71);
    duringLearn = async (tx) => {
      await note(72);
      const { rows } = await sql<{ keys: number[] }>`select keys from key_changes`.execute(tx);
      const seen = rows.flatMap(({ keys }) => keys);
      expect(seen).toContain(71);
      expect(seen).not.toContain(72);
    };
    expect(await learnedBy(feed)).toEqual([[71]]);
    duringLearn = async () => {};
    expect(await learnedBy(feed)).toEqual([[72]]);
    expect(warnings).toBe(0);
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
    const feed = newFeed();
    await feed.look();
    duringLearn = async (tx) => {
      await sql`select 1 / 0`.execute(tx);
    };
    await feed.look();
    await feed.look();
    expect(feed.ageMs).toBe(Number.POSITIVE_INFINITY);
    expect(warnings).toBe(1);
    duringLearn = async () => {};
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
