import { mkdir, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { EventQuotas } from '../../modules/quotas/index.js';
import {
  createTestPostgres,
  openMarkedStore,
  passingOn,
  RECEIVED_AT_MS,
  type TestPostgres,
  useObjectStoreKinds,
} from '../../testing/index.js';
import { type ObjectStore, ObjectStoreError, sweepUnusedObjects } from '../object-store/index.js';
import { transaction } from '../postgres/index.js';
import { MISSING_RETRY_MS } from './claim.js';
import { PostgresSegmentQueue, SegmentObjects, type SegmentRecord, segmentObjects } from './index.js';
import type { SegmentPlace } from './outside.js';

const DAY_MS = 86_400_000;

let test: TestPostgres;
const stores = useObjectStoreKinds();
beforeAll(async () => {
  test = await createTestPostgres();
});
afterAll(() => test.drop());

describe.each(stores.kinds)('the queue with an object store at %s', (_kind, urlOf) => {
  let store: ObjectStore;
  /** Passes calls on to `store`; a test may replace an operation. */
  let given: ObjectStore;
  let queue: PostgresSegmentQueue;
  let nowMs = 0;
  const clock = new ManualClock(RECEIVED_AT_MS);

  beforeEach(async () => {
    store = await openMarkedStore(urlOf());
    given = passingOn(store);
    queue = newQueue();
    await test.postgres.pool.query('truncate segments, unreadable_segments');
  });
  afterEach(async () => {
    await store.close();
  });

  /** Returns a queue as in another process. */
  function newQueue(): PostgresSegmentQueue {
    return new PostgresSegmentQueue(test.postgres, new SegmentObjects(given), { nowMs: () => nowMs, clock });
  }

  const accept = (record: SegmentRecord, to = queue) =>
    new EventQuotas(test.postgres, to).appendWithinQuota([{ record, monthlyEventLimit: -1 }]);
  const claim = (from = queue) => transaction(test.postgres, (tx) => from.claim(tx, 1_000));
  const keys = async () => (await store.list({ folder: 'segments', beforeMs: Date.now() + DAY_MS })).keys;
  const rows = async (sql: string) => (await test.postgres.pool.query(sql)).rows;
  const away = async () => {
    throw new ObjectStoreError('do anything', new Error('away'));
  };

  it('keeps large segments there, and small ones in their rows', async () => {
    await accept(recordOf('prj_a', 100_000));
    await accept(recordOf('prj_b', 1_000));
    const [key] = await keys();
    expect(await rows('select file_name, bytes is null as is_outside from segments order by id')).toEqual([
      { file_name: key, is_outside: true },
      { file_name: null, is_outside: false },
    ]);
    const claimed = await claim();
    expect(claimed.map(({ records }) => records)).toEqual([
      [recordOf('prj_a', 100_000)],
      [recordOf('prj_b', 1_000)],
    ]);
  });

  it('writes the row after the object', async () => {
    const objects = new SegmentObjects(given);
    let there: Buffer | undefined;
    await objects.put([[Buffer.from('on '), Buffer.from('disk')]], async ([place]) => {
      there = await store.get(place?.fileName as string);
    });
    expect(there).toEqual(Buffer.from('on disk'));
  });

  it('deletes an object after the claim of its segment has committed, in the process that has read it', async () => {
    await accept(recordOf('prj_a', 100_000));
    await accept(recordOf('prj_b', 100_000));
    const failed = transaction(test.postgres, async (tx) => {
      expect(await queue.claim(tx, 1_000)).toHaveLength(2);
      // Another connection still sees both rows.
      await queue.sweepStore();
      throw new Error('crash');
    });
    await expect(failed).rejects.toThrow('crash');
    await queue.sweepStore();
    expect(await keys()).toHaveLength(2);
    expect(await transaction(test.postgres, (tx) => queue.claim(tx, 1))).toHaveLength(1);
    await queue.sweepStore();
    expect(await keys()).toEqual((await rows('select file_name from segments')).map((row) => row.file_name));
    const other = newQueue();
    expect((await claim(other)).map(({ records }) => records)).toEqual([[recordOf('prj_b', 100_000)]]);
    await queue.sweepStore();
    expect(await keys()).toEqual([]);
  });

  it('keeps an object as long as one of several rows points at it', async () => {
    const [first, second] = [Buffer.from('first'), Buffer.from('second')];
    const objects = new SegmentObjects(given);
    let placed: readonly SegmentPlace[] = [];
    await objects.put([[first], [second]], async (places) => {
      placed = places;
    });
    const [one, other] = placed as [SegmentPlace, SegmentPlace];
    const name = one.fileName;
    expect(await objects.read(one)).toEqual(first);
    expect(await objects.read(other)).toEqual(second);
    await objects.sweep(async () => new Set([name]));
    expect(await keys()).toEqual([name]);
    await objects.sweep(async () => new Set());
    expect(await keys()).toEqual([]);
  });

  it('accepts nothing while the store is unavailable, and continues when it is back', async () => {
    given.put = away;
    await expect(accept(recordOf('prj_a', 100_000))).rejects.toThrow('a segment could not be written');
    expect(await rows('select from segments')).toEqual([]);
    given.put = (...call) => store.put(...call);
    await accept(recordOf('prj_a', 100_000));
    given.get = away;
    await expect(claim()).rejects.toThrow('away');
    given.get = (...call) => store.get(...call);
    expect((await claim()).map(({ records }) => records)).toEqual([[recordOf('prj_a', 100_000)]]);
  });

  it('writes no row when the process was suspended after its bytes were written', async () => {
    let suspendedMs = 3_600_000;
    given.put = async (...call) => {
      await store.put(...call);
      clock.advanceMs(suspendedMs);
    };
    await accept(recordOf('prj_a', 100_000));
    suspendedMs += 1;
    await expect(accept(recordOf('prj_a', 100_000))).rejects.toThrow('a segment could not be written');
    expect(await rows('select from segments')).toHaveLength(1);
  });

  it('gives up a put that takes too long, with no row', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const putting = new Promise<void>((resolve) => {
        given.put = () => {
          resolve();
          return new Promise(() => {});
        };
      });
      const refused = expect(accept(recordOf('prj_a', 100_000))).rejects.toThrow('could not be written');
      await putting;
      await vi.advanceTimersByTimeAsync(10_000);
      await refused;
    } finally {
      vi.useRealTimers();
    }
    expect(await rows('select from segments')).toEqual([]);
  });

  it('sets a segment aside whose object is damaged, and claims later segments', async () => {
    for (const project of ['prj_a', 'prj_b']) await accept(recordOf(project, 100_000));
    const [damaged] = (await rows('select file_name from segments order by id')).map((row) => row.file_name);
    const bytes = (await store.get(damaged)) as Buffer;
    given.get = async (key, range) => {
      const right = await store.get(key, range);
      if (key === damaged) right?.writeUInt8(bytes.readUInt8(500) ^ 1, 500);
      return right;
    };
    const claimed = await claim();
    expect(claimed.map(({ records }) => records)).toEqual([[], [recordOf('prj_b', 100_000)]]);
    expect(
      await rows('select problem, octet_length(bytes) as size from unreadable_segments order by id'),
    ).toEqual([{ problem: expect.stringContaining('it is damaged'), size: bytes.length }]);
  });

  it('leaves a segment in the queue whose object is missing, claims later segments, and tries it again', async () => {
    for (const project of ['prj_a', 'prj_b']) await accept(recordOf(project, 100_000));
    const [missing = ''] = (await rows('select file_name from segments order by id')).map(
      (row) => row.file_name,
    );
    given.get = async (key, range) => (key === missing ? undefined : store.get(key, range));
    await expect(claim()).rejects.toThrow(`the bytes of a segment are missing: ${missing}`);
    expect((await claim()).map(({ records }) => records)).toEqual([[recordOf('prj_b', 100_000)]]);
    given.get = (...call) => store.get(...call);
    expect(await claim()).toEqual([]);
    expect(await rows('select from unreadable_segments')).toEqual([]);
    expect(await segmentObjects(queue).isInUse()).toBe(true);
    nowMs += MISSING_RETRY_MS;
    expect((await claim()).map(({ records }) => records)).toEqual([[recordOf('prj_a', 100_000)]]);
  });

  it('leaves a segment in the queue that is in a file of an embedded database', async () => {
    await accept(recordOf('prj_a', 100_000));
    await test.postgres.pool.query("update segments set file_name = 'a-file.segments'");
    await expect(claim()).rejects.toThrow('which is not an object');
    expect(await rows('select from segments')).toHaveLength(1);
  });

  it('is swept of old objects without a row, and of nothing else', async () => {
    await accept(recordOf('prj_a', 100_000));
    const [live] = await keys();
    const lost = new Error('the process died');
    await expect(
      new SegmentObjects(given).put([[Buffer.from('a')]], () => Promise.reject(lost)),
    ).rejects.toBe(lost);
    expect(await keys()).toHaveLength(2);
    const sweep = (nowMs: number) => sweepUnusedObjects(store, segmentObjects(queue), nowMs);
    expect(await sweep(Date.now() + DAY_MS / 2)).toBe(0);
    expect(await sweep(Date.now() + 2 * DAY_MS)).toBe(1);
    expect(await keys()).toEqual([live]);
    expect(await claim()).toHaveLength(1);
  });
});

it('holds the queue while a share is not mounted, and sets nothing aside', async () => {
  const { folder } = stores;
  const store = await openMarkedStore(pathToFileURL(folder).href);
  const queue = new PostgresSegmentQueue(test.postgres, new SegmentObjects(store));
  await test.postgres.pool.query('truncate segments, unreadable_segments');
  const record = recordOf('prj_a', 100_000);
  await new EventQuotas(test.postgres, queue).appendWithinQuota([{ record, monthlyEventLimit: -1 }]);
  // An empty folder replaces the share.
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await expect(transaction(test.postgres, (tx) => queue.claim(tx, 10))).rejects.toMatchObject({
    code: 'ENOENT',
  });
  expect((await test.postgres.pool.query('select from unreadable_segments')).rows).toEqual([]);
  expect((await queue.backlog()).segments).toBe(1);
});

function recordOf(projectId: string, bodyBytes: number): SegmentRecord {
  return {
    scope: {
      kind: 'batch',
      tenantId: 'ten_a',
      projectId,
      projectNo: 1,
      storage: 'shared',
      extractorRuleSetId: null,
    },
    receivedAtMs: RECEIVED_AT_MS,
    eventCount: 1,
    ids: Buffer.alloc(16, projectId),
    body: Buffer.alloc(bodyBytes, projectId),
  };
}
