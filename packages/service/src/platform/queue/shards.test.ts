import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storedShardsOf } from '../../kernel/shard.js';
import { createTestPostgres, dueAtMs, type TestPostgres } from '../../testing/index.js';
import { type Tx, transaction } from '../postgres/index.js';
import { deferredSegment, newSegment } from './claim.js';
import { FIRST_TURN } from './deferred.js';
import { PostgresSegmentQueue } from './postgres-queue.js';
import type { DeferredTurn } from './queue.js';
import type { SegmentRecord } from './segment.js';
import { SegmentFiles } from './segment-files.js';

let store: TestPostgres;
let shards: number;
let queue: PostgresSegmentQueue;
beforeAll(async () => {
  store = await createTestPostgres();
});
beforeEach(() => {
  shards = 8;
  queue = new PostgresSegmentQueue(store.postgres, undefined, { shards: () => shards });
});
afterEach(() => store.postgres.pool.query('truncate segments'));
afterAll(() => store.drop());

function record(projectNo: number, eventCount = 1, body = Buffer.from('body')): SegmentRecord {
  return {
    scope: {
      kind: 'batch',
      tenantId: `ten_${projectNo % 2}`,
      projectId: `prj_${projectNo}`,
      projectNo,
      storage: 'shared',
      extractorRuleSetId: null,
    },
    receivedAtMs: 1_750_000_000_000,
    eventCount,
    ids: Buffer.alloc(eventCount * 16, eventCount),
    body,
  };
}

const inTx = <T>(work: (tx: Tx) => Promise<T>) => transaction(store.postgres, work);
const claim = (eventsMax: number, of?: readonly number[]) => inTx((tx) => queue.claim(tx, eventsMax, of));
const stored = async () =>
  (await store.postgres.pool.query('select shard, project_ids as ids from segments order by id')).rows;
const projectsOf = (claimed: readonly { readonly records: readonly SegmentRecord[] }[]) =>
  claimed.map(({ records }) => records.map(({ scope }) => scope.projectNo));
const NOTHING = { name: 'nothing', text: 'select $1::integer', values: [1] };

describe('the queue with shards', () => {
  it('has work while segments wait, deferred or not', async () => {
    const found = () =>
      Promise.all([newSegment, deferredSegment].map((subquery) => dueAtMs(store.postgres, subquery)));
    expect(await found()).toEqual([null, null]);
    await queue.append([record(1)]);
    expect(await found()).toEqual([0, null]);
    await inTx((tx) => queue.defer(tx, [record(1)]));
    expect(await found()).toEqual([0, 0]);
    await claim(100);
    expect(await found()).toEqual([null, 0]);
  });

  it('appends one segment for each shard, and all of them or none', async () => {
    await queue.append([9, 2, 1, 66, 10].map((projectNo) => record(projectNo)));
    expect(await stored()).toEqual([
      { shard: 1, ids: ['prj_9', 'prj_1'] },
      { shard: 2, ids: ['prj_2', 'prj_66', 'prj_10'] },
    ]);
    const failing = { name: 'failing', text: 'insert into sharding (shards) values ($1)', values: [65] };
    await expect(queue.appendWith(failing, [record(1), record(2)])).rejects.toThrow('sharding_shards_check');
    expect(await stored()).toHaveLength(2);
  });

  it('puts large segments of several shards into one file, each at its place', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-segments-'));
    const files = await SegmentFiles.open(folder);
    try {
      queue = new PostgresSegmentQueue(store.postgres, files, { shards: () => shards });
      const records = [3, 4, 12, 5].map((no) => record(no, no, Buffer.alloc(30_000, `body of ${no} `)));
      await queue.appendWith(NOTHING, records);
      const { rows } = await store.postgres.pool.query(
        'select count(distinct file_name)::int as files, count(distinct file_offset)::int as places from segments',
      );
      expect(rows).toEqual([{ files: 1, places: 3 }]);
      const claimed = await claim(1_000);
      expect(claimed.map((segment) => segment.records)).toEqual([
        [records[0]],
        [records[1], records[2]],
        [records[3]],
      ]);
    } finally {
      await files.close();
      await rm(folder, { recursive: true });
    }
  });

  it('claims from one shard, the one that has waited longest', async () => {
    for (const projectNo of [3, 1, 3, 1, 11]) await queue.append([record(projectNo, 10)]);
    expect(projectsOf(await claim(20))).toEqual([[3], [3]]);
    expect(projectsOf(await claim(20))).toEqual([[1], [1]]);
    expect(projectsOf(await claim(20))).toEqual([[11]]);
    expect(await claim(20)).toEqual([]);
  });

  it('claims shards with few events together, up to half of a batch', async () => {
    for (const projectNo of [1, 2, 3, 4]) await queue.append([record(projectNo, 10)]);
    expect(projectsOf(await claim(40))).toEqual([[1], [2], [3]]);
    expect(projectsOf(await claim(40))).toEqual([[4]]);
  });

  it('claims from a shard that no other batch has, and shares a shard if there is none', async () => {
    // A claim locks up to 16 segments at first, also those that it does not take.
    for (let count = 0; count < 17; count++) await queue.append([record(1, 10)]);
    await queue.append([record(2, 10)]);
    await inTx(async (first) => {
      expect(projectsOf(await queue.claim(first, 10))).toEqual([[1]]);
      await inTx(async (second) => {
        expect(projectsOf(await queue.claim(second, 10))).toEqual([[2]]);
        expect(projectsOf(await claim(10))).toEqual([[1]]);
      });
    });
    expect(projectsOf(await claim(1_000)).flat()).toHaveLength(15);
  });

  it('claims from the next shard when all segments of the first are locked', async () => {
    for (const projectNo of [1, 2]) await queue.append([record(projectNo, 10)]);
    await inTx(async (first) => {
      await first.executeQuery({
        sql: 'select from segments where shard = 1 for update',
        parameters: [],
      } as never);
      expect(projectsOf(await claim(10))).toEqual([[2]]);
      expect(await claim(10)).toEqual([]);
    });
    expect(projectsOf(await claim(10))).toEqual([[1]]);
  });

  it('claims segments that were written with another number of shards, each by one owner', async () => {
    for (const count of [8, 64, 3, 1]) {
      shards = count;
      await queue.append([record(7, 10), record(60, 10), record(0, 10)]);
    }
    shards = 4;
    const owned = [0, 1, 2, 3].map((shard) => storedShardsOf(new Set([shard]), shards));
    const claimed: number[] = [];
    for (const of of owned) {
      const segments = await claim(1_000, of);
      expect(segments.every(({ shard }) => of.includes(shard))).toBe(true);
      claimed.push(...projectsOf(segments).flat());
    }
    expect(claimed.sort((a, b) => a - b)).toEqual([0, 0, 0, 0, 7, 7, 7, 7, 60, 60, 60, 60]);
  });

  it('puts back and defers by shard', async () => {
    await inTx((tx) => queue.putBack(tx, [record(9), record(2), record(1)]));
    await inTx((tx) => queue.defer(tx, [record(3), record(11), record(5)]));
    expect(await stored()).toEqual([
      { shard: 1, ids: ['prj_9', 'prj_1'] },
      { shard: 2, ids: ['prj_2'] },
      { shard: 3, ids: ['prj_3'] },
      { shard: 3, ids: ['prj_11'] },
      { shard: 5, ids: ['prj_5'] },
    ]);
  });

  it('has a turn of deferred events for each tenant in each shard', async () => {
    await inTx((tx) => queue.defer(tx, [record(3), record(11), record(2), record(5), record(13)]));
    const turns: DeferredTurn[] = [];
    let after = FIRST_TURN;
    for (let turn = 0; turn < 4; turn++) {
      after = (await inTx((tx) => queue.nextDeferred(tx, after))) as DeferredTurn;
      turns.push(after);
    }
    const [even, odd, other] = [
      { tenantId: 'ten_0', shard: 2 },
      { tenantId: 'ten_1', shard: 3 },
      { tenantId: 'ten_1', shard: 5 },
    ];
    expect(turns).toEqual([even, odd, other, even]);
    const next = (shard: number) => inTx((tx) => queue.nextDeferred(tx, FIRST_TURN, { shards: [shard] }));
    expect([await next(5), await next(4)]).toEqual([other, undefined]);
    expect(projectsOf(await inTx((tx) => queue.claimDeferred(tx, odd, 100)))).toEqual([[3], [11]]);
    expect(projectsOf(await inTx((tx) => queue.claimDeferred(tx, other, 100)))).toEqual([[5], [13]]);
  });
});
