import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { type Tx, transaction } from '../postgres/index.js';
import { PostgresSegmentQueue } from './postgres-queue.js';
import type { SegmentRecord } from './segment.js';

let store: TestPostgres;
let queue: PostgresSegmentQueue;
beforeAll(async () => {
  store = await createTestPostgres();
  queue = new PostgresSegmentQueue(store.postgres);
});
afterEach(() => store.postgres.pool.query('delete from segments'));
afterAll(() => store.drop());

const RECEIVED_AT_MS = 1_750_000_000_000;

function record(projectId: string, eventCount: number, receivedAtMs = RECEIVED_AT_MS): SegmentRecord {
  return {
    scope: {
      kind: 'batch',
      tenantId: 'ten_1',
      projectId,
      projectNo: 1,
      storage: 'shared',
      extractorRuleSetId: null,
    },
    receivedAtMs,
    eventCount,
    ids: Buffer.alloc(eventCount * 16, eventCount),
    body: Buffer.from([0, 255, 10, 92, eventCount]),
  };
}

const claim = (eventsMax: number) => transaction(store.postgres, (tx) => queue.claim(tx, eventsMax));

describe('PostgresSegmentQueue', () => {
  it('gives back, byte for byte, what was appended, oldest first, once', async () => {
    const first = [record('prj_a', 2, RECEIVED_AT_MS + 5), record('prj_b', 3), record('prj_a', 1)];
    await queue.append(first);
    await queue.append([record('prj_c', 4)]);
    const segments = await claim(100);
    expect(segments.map((segment) => segment.records)).toEqual([first, [record('prj_c', 4)]]);
    expect(segments[0]).toMatchObject({ eventCount: 6, receivedAtMs: RECEIVED_AT_MS });
    expect(await claim(100)).toEqual([]);
  });

  it('keeps large bodies among small ones as they are', async () => {
    const large = { ...record('prj_b', 3), body: Buffer.alloc(200_000, 'large') };
    const records = [record('prj_a', 2), large, record('prj_a', 1), large];
    await queue.append(records);
    await queue.appendWithinQuota(records.map((each) => ({ record: each, monthlyEventLimit: 1_000 })));
    const segments = await claim(100);
    expect(segments.map((segment) => segment.records)).toEqual([records, records]);
  });

  it('tells how many events of which project a segment holds', async () => {
    await queue.append([record('prj_a', 2), record('prj_b', 3), record('prj_a', 1)]);
    const { rows } = await store.postgres.pool.query(
      'select event_count, received_at_ms, project_ids, project_event_counts from segments',
    );
    expect(rows).toEqual([
      {
        event_count: 6,
        received_at_ms: RECEIVED_AT_MS,
        project_ids: ['prj_a', 'prj_b'],
        project_event_counts: [3, 3],
      },
    ]);
  });

  it('refuses an empty append', async () => {
    await expect(queue.append([])).rejects.toThrow(RangeError);
  });

  it('claims up to the bound, and at least one segment', async () => {
    for (let n = 1; n <= 40; n += 1) await queue.append([record('prj_a', 3)]);
    expect(await claim(2)).toHaveLength(1);
    expect(await claim(10)).toHaveLength(3);
    expect(await claim(100)).toHaveLength(33);
    expect(await claim(100)).toHaveLength(3);
  });

  it('puts a segment back when the claiming transaction fails', async () => {
    await queue.append([record('prj_a', 1)]);
    const failed = transaction(store.postgres, async (tx) => {
      expect(await queue.claim(tx, 10)).toHaveLength(1);
      throw new Error('crash');
    });
    await expect(failed).rejects.toThrow('crash');
    expect(await claim(10)).toHaveLength(1);
  });

  it('sets a segment aside that cannot be read, and goes on behind it', async () => {
    await queue.append([record('prj_a', 1)]);
    await queue.append([record('prj_b', 2)]);
    await store.postgres.pool.query(
      `update segments set bytes = '\\x02000000ff00' where id = (select min(id) from segments)`,
    );
    const segments = await claim(100);
    expect(segments.map(({ records }) => records)).toEqual([[], [record('prj_b', 2)]]);
    expect(segments[0]?.problem?.message).toContain('preamble');
    const { rows } = await store.postgres.pool.query(
      'select event_count, received_at_ms, project_ids, project_event_counts, bytes from unreadable_segments',
    );
    expect(rows).toEqual([
      {
        event_count: 1,
        received_at_ms: RECEIVED_AT_MS,
        project_ids: ['prj_a'],
        project_event_counts: [1],
        bytes: Buffer.from('02000000ff00', 'hex'),
      },
    ]);
    expect(await claim(100)).toEqual([]);
  });

  it('shares the queue among workers without waiting and without overlap', async () => {
    for (let n = 1; n <= 200; n += 1) await queue.append([record('prj_a', 1)]);
    const seen: number[] = [];
    const holdTogether = async (tx: Tx, workers: number): Promise<void> => {
      const segments = await queue.claim(tx, 50);
      seen.push(...segments.map((segment) => segment.id));
      if (workers > 1) await transaction(store.postgres, (next) => holdTogether(next, workers - 1));
    };
    await transaction(store.postgres, (tx) => holdTogether(tx, 4));
    expect(seen).toHaveLength(200);
    expect(new Set(seen).size).toBe(200);
  });

  it('measures its backlog', async () => {
    expect(await queue.backlog()).toEqual({
      segments: 0,
      events: 0,
      bytes: 0,
      oldestReceivedAtMs: undefined,
    });
    await queue.append([record('prj_a', 2, RECEIVED_AT_MS + 5)]);
    await queue.append([record('prj_a', 3)]);
    const { rows } = await store.postgres.pool.query(
      'select sum(length(bytes))::bigint as bytes from segments',
    );
    expect(await queue.backlog()).toEqual({
      segments: 2,
      events: 5,
      bytes: rows[0].bytes,
      oldestReceivedAtMs: RECEIVED_AT_MS,
    });
  });
});
