import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordBytes, type SegmentRecord } from '../../platform/queue/index.js';
import { waitFor } from '../../testing/index.js';
import type { EventEntitlement, QuotaRecord, QuotaRefusal } from '../quotas/index.js';
import { GroupCommit } from './group-commit.js';

/** From this size on, with its header, a segment is written in parallel to another one. */
const LARGE_BYTES = 256 * 1_024;

/** A queue whose appends end when the test says so. */
class HeldQueue {
  readonly segments: (readonly QuotaRecord[])[] = [];
  readonly #ends: {
    resolve: (refusals: readonly QuotaRefusal[]) => void;
    reject: (error: Error) => void;
  }[] = [];

  appendWithinQuota(records: readonly QuotaRecord[]): Promise<readonly QuotaRefusal[]> {
    this.segments.push(records);
    return new Promise((resolve, reject) => this.#ends.push({ resolve, reject }));
  }

  async appended(count: number): Promise<void> {
    await waitFor(() => this.segments.length === count, { what: `append ${count}` });
  }

  release(refusals: readonly QuotaRefusal[] = []): void {
    this.#ends.shift()?.resolve(refusals);
  }

  fail(): void {
    this.#ends.shift()?.reject(new Error('Connection terminated unexpectedly'));
  }
}

function record(bodyBytes = 10, eventCount = 1): SegmentRecord {
  return {
    scope: {
      kind: 'batch',
      tenantId: 'ten_1',
      projectId: 'prj_1',
      projectNo: 1,
      storage: 'shared',
      extractorRuleSetId: null,
    },
    receivedAtMs: 1,
    eventCount,
    ids: Buffer.alloc(eventCount * 16),
    body: Buffer.alloc(bodyBytes),
  };
}

const ENTITLEMENT: EventEntitlement = {
  isEntitled: true,
  window: { ageDaysMax: 1, aheadDaysMax: 1 },
  monthlyEventLimit: 100,
  endsAt: null,
};

/** Waits until everything that was due is done, apart from pending writes. */
async function turns(): Promise<void> {
  for (let n = 0; n < 3; n += 1) await new Promise(setImmediate);
}

const outcomeOf = (work: Promise<void>) =>
  work.then(
    () => 'durable',
    (error: { code: string }) => error.code,
  );

describe('GroupCommit', () => {
  it('responds to nobody before the write has ended', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    let answered = false;
    const first = commit.accept(record(), ENTITLEMENT).then(() => {
      answered = true;
    });
    await queue.appended(1);
    await new Promise(setImmediate);
    expect(answered).toBe(false);
    queue.release();
    await first;
  });

  it('puts everything that arrived during a write into the next one', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const first = commit.accept(record(), ENTITLEMENT);
    await queue.appended(1);
    const rest = [record(), record(), record()].map((each) => commit.accept(each, ENTITLEMENT));
    queue.release();
    await first;
    await queue.appended(2);
    expect(queue.segments[1]).toHaveLength(3);
    queue.release();
    await Promise.all(rest);
  });

  it('writes a large segment at the same time as another one, and no third', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const first = commit.accept(record(), ENTITLEMENT);
    await queue.appended(1);
    // One byte too few: it waits until another record joins it.
    const fixedBytes = recordBytes(record(0));
    const small = commit.accept(record(LARGE_BYTES - fixedBytes - 1), ENTITLEMENT);
    await turns();
    expect(queue.segments).toHaveLength(1);
    const joining = commit.accept(record(), ENTITLEMENT);
    await queue.appended(2);
    expect(queue.segments[1]).toHaveLength(2);
    const third = commit.accept(record(LARGE_BYTES), ENTITLEMENT);
    await turns();
    expect(queue.segments).toHaveLength(2);
    queue.release();
    await first;
    await queue.appended(3);
    const last = commit.accept(record(), ENTITLEMENT);
    queue.release();
    await Promise.all([small, joining]);
    await turns();
    expect(queue.segments).toHaveLength(3);
    const closed = commit.close();
    queue.release();
    await third;
    await queue.appended(4);
    queue.release();
    await Promise.all([last, closed]);
  });

  it('never has two small segments or three large ones written at once, and loses nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 1.5 * LARGE_BYTES }), fc.integer({ min: 0, max: 3 })), {
          maxLength: 30,
        }),
        async (requests) => {
          let running = 0;
          const written: number[] = [];
          const ends: (() => void)[] = [];
          const appendWithinQuota = async (records: readonly QuotaRecord[]) => {
            const bytes = records.reduce((sum, each) => sum + recordBytes(each.record), 0);
            running += 1;
            expect(running).toBeLessThanOrEqual(bytes >= LARGE_BYTES ? 2 : 1);
            await new Promise<void>((resolve) => ends.push(resolve));
            written.push(...records.map(({ record: { body } }) => body.length));
            running -= 1;
            return [];
          };
          const commit = new GroupCommit({ quotas: { appendWithinQuota } });
          const answers: Promise<void>[] = [];
          for (const [bytes, endsAfter] of requests) {
            answers.push(commit.accept(record(bytes), ENTITLEMENT));
            if (endsAfter > 0) await turns();
            for (let n = 1; n < endsAfter; n += 1) ends.shift()?.();
          }
          const closed = commit.close().then(() => 'closed');
          while ((await Promise.race([closed, turns()])) !== 'closed') ends.shift()?.();
          await Promise.all(answers);
          expect(written.sort()).toEqual(requests.map(([bytes]) => bytes).sort());
        },
      ),
      { numRuns: 200 },
    );
  });

  it('splits what waits by bytes and by events, but never a request', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue, segmentBytesMax: 1_000 });
    const sizes = [record(600), record(600), record(5_000), record(10, 9_000), record(10, 2_000)];
    const all = sizes.map((each) => commit.accept(each, ENTITLEMENT));
    for (let n = 1; n <= 5; n += 1) {
      await queue.appended(n);
      queue.release();
    }
    await Promise.all(all);
    expect(queue.segments.map((segment) => segment.length)).toEqual([1, 1, 1, 1, 1]);
  });

  it('writes the requests of two months apart', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const februaryMs = Date.UTC(1970, 1, 1);
    const times = [februaryMs - 2, februaryMs - 1, februaryMs, februaryMs + 1, februaryMs - 1];
    const all = times.map((receivedAtMs) => commit.accept({ ...record(), receivedAtMs }, ENTITLEMENT));
    for (let n = 1; n <= 3; n += 1) {
      await queue.appended(n);
      queue.release();
    }
    await Promise.all(all);
    expect(queue.segments.map((segment) => segment.length)).toEqual([2, 2, 1]);
  });

  it('refuses all of a failed write, and goes on with the next', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const failed = [commit.accept(record(), ENTITLEMENT), commit.accept(record(), ENTITLEMENT)].map(
      outcomeOf,
    );
    await queue.appended(1);
    const later = commit.accept(record(), ENTITLEMENT);
    queue.fail();
    expect(await Promise.all(failed)).toEqual(['store_unavailable', 'store_unavailable']);
    await queue.appended(2);
    queue.release();
    await later;
  });

  it('bounds what waits in memory, and takes more once it is written', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue, pendingBytesMax: 1_000 });
    const first = commit.accept(record(900), ENTITLEMENT);
    await expect(commit.accept(record(900), ENTITLEMENT)).rejects.toMatchObject({
      code: 'ingest_backlog_full',
      retryAfterS: 1,
    });
    await queue.appended(1);
    queue.fail();
    expect(await outcomeOf(first)).toBe('store_unavailable');
    const second = commit.accept(record(5_000), ENTITLEMENT);
    await queue.appended(2);
    queue.release();
    await second;
  });

  it('refuses what a quota had no room for, and takes the rest of the write', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const all = [record(10, 1), record(10, 99), record(10, 1)].map((each) =>
      outcomeOf(commit.accept(each, ENTITLEMENT)),
    );
    await queue.appended(1);
    expect(queue.segments[0]?.map(({ monthlyEventLimit }) => monthlyEventLimit)).toEqual([100, 100, 100]);
    queue.release([{ index: 1, used: 50 }]);
    expect(await Promise.all(all)).toEqual(['durable', 'event_quota_exceeded', 'durable']);
  });

  it('does not write what certainly has no room; what may have, it does', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const first = outcomeOf(commit.accept(record(10, 60), ENTITLEMENT));
    await queue.appended(1);
    queue.release([{ index: 0, used: 50 }]);
    expect(await first).toBe('event_quota_exceeded');
    await expect(commit.accept(record(10, 51), ENTITLEMENT)).rejects.toMatchObject({
      code: 'event_quota_exceeded',
      details: [{ path: 'monthly_event_limit', message: 'allows 100 in a calendar month; 50 used, 51 sent' }],
    });
    const raised = commit.accept(record(10, 51), { ...ENTITLEMENT, monthlyEventLimit: 101 });
    await queue.appended(2);
    const smaller = commit.accept(record(10, 50), ENTITLEMENT);
    queue.release();
    await raised;
    await queue.appended(3);
    const aSecondLater = commit.accept({ ...record(10, 51), receivedAtMs: 1_001 }, ENTITLEMENT);
    queue.release();
    await smaller;
    await queue.appended(4);
    queue.release();
    await aSecondLater;
  });

  it.each<[string, EventEntitlement['endsAt'], number]>([
    ['when the month ends', null, 2_678_399.999],
    ['when the month ends, before the plan does', 3_000_000, 2_678_399.999],
    ['when the plan ends', 1_000, 999.999],
    ['when the month ends, of a plan that has just ended', 0, 2_678_399.999],
  ])('says that it may be sent again %s', async (_when, endsAt, seconds) => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const refused = commit.accept(record(), { ...ENTITLEMENT, endsAt });
    const expected = expect(refused).rejects.toMatchObject({ retryAfterS: Math.ceil(seconds) });
    await queue.appended(1);
    queue.release([{ index: 0, used: 100 }]);
    await expected;
  });

  it('finishes what it has taken when it is closed, and takes no more', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ quotas: queue });
    const first = commit.accept(record(), ENTITLEMENT);
    await queue.appended(1);
    const second = commit.accept(record(), ENTITLEMENT);
    const closed = commit.close();
    await expect(commit.accept(record(), ENTITLEMENT)).rejects.toMatchObject({ code: 'shutting_down' });
    queue.release();
    await queue.appended(2);
    queue.release();
    await Promise.all([first, second, closed]);
    await new GroupCommit({ quotas: queue }).close();
  });
});
