import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SegmentRecord } from '../../platform/queue/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import { REPROCESS_CHUNK_EVENTS_MAX, type ReprocessDeps, reprocessEvents } from './reprocess.js';

const FROM_S = 1_750_000_000;
/** Room without end. */
const room = { checkRoom: () => {}, hasRoomToReprocess: async () => true };

let api: TestApi;

beforeAll(async () => {
  api = await createTestApi(() => {});
});
beforeEach(async () => {
  await api.postgres.pool.query('delete from failed_events');
});
afterAll(() => api.close());

describe('the failed events of a range', () => {
  /** Adds failed events, and returns what reprocesses them with a queue that only notes its chunks. */
  async function manyFailed(count: number) {
    const { tenantId, projectId } = api;
    await api.postgres.pool.query(
      `insert into failed_events (tenant_id, project_id, raw_event_id, occurred_at, received_at_ms, extractor_rule_set_id,
        failure_code, attempt, event)
      select $1, $2, (lpad(to_hex($3::bigint + n / 100), 8, '0') || lpad(to_hex(n), 24, '0'))::uuid, $3::bigint + n / 100,
        0, 'ers_1', 'pricing_failed', 0, '{}' from generate_series(1, $4::integer) n`,
      [tenantId, projectId, FROM_S, count],
    );
    const chunks: SegmentRecord[] = [];
    const deps = {
      postgres: api.postgres,
      clock: api.clock,
      history: everythingKept,
      room,
      queue: { append: async (records: readonly SegmentRecord[]) => void chunks.push(...records) },
    };
    const project = { tenantId, projectId, projectNo: 1, kind: 'release', storage: 'shared' } as const;
    const range = { from: 0, to: FROM_S * 2, code: undefined };
    const reprocess = (more: Partial<ReprocessDeps>, signal = new AbortController().signal) =>
      reprocessEvents({ ...deps, ...more }, project, range, signal);
    return { chunks, reprocess };
  }

  it('queues many events in chunks, each of them once', async () => {
    const count = REPROCESS_CHUNK_EVENTS_MAX + 1;
    const { chunks, reprocess } = await manyFailed(count);
    expect(await reprocess({})).toBe(count);
    expect(chunks.map(({ eventCount }) => eventCount)).toEqual([REPROCESS_CHUNK_EVENTS_MAX, 1]);
    const ids =
      Buffer.concat(chunks.map((chunk) => chunk.ids))
        .toString('hex')
        .match(/.{32}/g) ?? [];
    expect(new Set(ids).size).toBe(count);
  });

  it('waits for room in the queue before each chunk', async () => {
    const { chunks, reprocess } = await manyFailed(REPROCESS_CHUNK_EVENTS_MAX + 1);
    const found = [true, false, false, true];
    const chunksAtPause: number[] = [];
    await reprocess({
      room: { ...room, hasRoomToReprocess: async () => found.shift() ?? false },
      pause: async () => void chunksAtPause.push(chunks.length),
    });
    expect(chunksAtPause).toEqual([1, 1]);
    expect(chunks).toHaveLength(2);
  });

  it('queues nothing more once no client waits any more', async () => {
    const { chunks, reprocess } = await manyFailed(1);
    const left = new AbortController();
    const reprocessed = reprocess(
      {
        room: { ...room, hasRoomToReprocess: async () => false },
        pause: async () => left.abort(),
      },
      left.signal,
    );
    await expect(reprocessed).rejects.toMatchObject({ code: 'shutting_down' });
    expect(chunks).toEqual([]);
  });
});
