import { describe, expect, it } from 'vitest';
import type { SegmentRecord } from '../../platform/queue/index.js';
import { waitFor } from '../../testing/index.js';
import { GroupCommit } from './group-commit.js';

/** A queue whose appends end when the test says so. */
class HeldQueue {
  readonly segments: (readonly SegmentRecord[])[] = [];
  private readonly ends: { resolve: () => void; reject: (error: Error) => void }[] = [];

  append(records: readonly SegmentRecord[]): Promise<void> {
    this.segments.push(records);
    return new Promise((resolve, reject) => this.ends.push({ resolve, reject }));
  }

  async appended(count: number): Promise<void> {
    await waitFor(() => this.segments.length === count, { what: `append ${count}` });
  }

  release(): void {
    this.ends.shift()?.resolve();
  }

  fail(): void {
    this.ends.shift()?.reject(new Error('Connection terminated unexpectedly'));
  }
}

function record(bodyBytes = 10, eventCount = 1): SegmentRecord {
  return {
    scope: { kind: 'batch', tenantId: 'ten_1', projectId: 'prj_1', projectNo: 1, extractorRuleSetId: null },
    receivedAtMs: 1,
    eventCount,
    ids: Buffer.alloc(eventCount * 16),
    body: Buffer.alloc(bodyBytes),
  };
}

const outcomeOf = (work: Promise<void>) =>
  work.then(
    () => 'durable',
    (error: { code: string; statusCode: number }) => `${error.statusCode} ${error.code}`,
  );

describe('GroupCommit', () => {
  it('answers nobody before the write has ended', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ queue });
    let answered = false;
    const first = commit.accept(record()).then(() => {
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
    const commit = new GroupCommit({ queue });
    const first = commit.accept(record());
    await queue.appended(1);
    const rest = [record(), record(), record()].map((each) => commit.accept(each));
    queue.release();
    await first;
    await queue.appended(2);
    expect(queue.segments[1]).toHaveLength(3);
    queue.release();
    await Promise.all(rest);
  });

  it('splits what waits by bytes and by events, but never a request', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ queue, segmentBytesMax: 1_000 });
    const sizes = [record(600), record(600), record(5_000), record(10, 9_000), record(10, 2_000)];
    const all = sizes.map((each) => commit.accept(each));
    for (let n = 1; n <= 5; n += 1) {
      await queue.appended(n);
      queue.release();
    }
    await Promise.all(all);
    expect(queue.segments.map((segment) => segment.length)).toEqual([1, 1, 1, 1, 1]);
  });

  it('refuses all of a failed write, and goes on with the next', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ queue });
    const failed = [commit.accept(record()), commit.accept(record())].map(outcomeOf);
    await queue.appended(1);
    const later = commit.accept(record());
    queue.fail();
    expect(await Promise.all(failed)).toEqual(['503 store_unavailable', '503 store_unavailable']);
    await queue.appended(2);
    queue.release();
    await later;
  });

  it('bounds what waits in memory, and takes more once it is written', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ queue, pendingBytesMax: 1_000 });
    const first = commit.accept(record(900));
    await expect(commit.accept(record(900))).rejects.toMatchObject({
      code: 'ingest_backlog_full',
      statusCode: 503,
      retryAfterS: 1,
    });
    await queue.appended(1);
    queue.fail();
    expect(await outcomeOf(first)).toBe('503 store_unavailable');
    const second = commit.accept(record(5_000));
    await queue.appended(2);
    queue.release();
    await second;
  });

  it('finishes what it has taken when it is closed, and takes no more', async () => {
    const queue = new HeldQueue();
    const commit = new GroupCommit({ queue });
    const first = commit.accept(record());
    await queue.appended(1);
    const second = commit.accept(record());
    const closed = commit.close();
    await expect(commit.accept(record())).rejects.toMatchObject({ code: 'shutting_down' });
    queue.release();
    await queue.appended(2);
    queue.release();
    await Promise.all([first, second, closed]);
    await new GroupCommit({ queue }).close();
  });
});
