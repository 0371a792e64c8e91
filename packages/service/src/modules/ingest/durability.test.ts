import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { createTestIngest, type TestIngest } from '../../testing/ingest-api.js';

let api: TestIngest;
/** Blocks writes to PostgreSQL until `open` is called. */
let gate: Promise<void>;
let open = () => {};
let appendsBegun = 0;

beforeAll(async () => {
  api = await createTestIngest((queue) => ({
    backlog: () => queue.backlog(),
    tenantsHolding: (size) => queue.tenantsHolding(size),
    appendWithinQuota: async (records) => {
      appendsBegun += 1;
      await gate;
      return queue.appendWithinQuota(records);
    },
  }));
});
beforeEach(() => {
  gate = Promise.resolve();
  appendsBegun = 0;
});
afterAll(() => api.close());

async function segmentCount(): Promise<number> {
  const { rows } = await api.postgres.pool.query('select count(*)::int as n from segments');
  return rows[0].n;
}

describe('a 202', () => {
  it('is not sent before the events are in the database', async () => {
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const begin = await segmentCount();
    let answered = 0;
    const sends = [api.sendSingle(api.event), api.sendBatch({ events: [api.item()] })].map(async (send) => {
      const { status } = await send;
      answered += 1;
      return { status, segments: await segmentCount() };
    });
    await waitFor(() => appendsBegun > 0, { what: 'the write' });
    // Many turns of the event loop, each with a round trip to the database.
    for (let turn = 0; turn < 20; turn += 1) await segmentCount();
    expect(answered).toBe(0);
    expect(await segmentCount()).toBe(begin);
    open();
    for (const { status, segments } of await Promise.all(sends)) {
      expect(status).toBe(202);
      expect(segments).toBeGreaterThan(begin);
    }
  });

  it('is not sent when the connection breaks in the middle of the write', async () => {
    const blocker = await api.postgres.pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query('lock table segments in access exclusive mode');
      const send = api.sendSingle(api.event);
      await waitFor(async () => {
        // On another connection than the blocking one: a transaction sees the activity of a single moment.
        const { rows } = await api.postgres.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query like '%insert into segments%' and wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      const refused = await send;
      expect([refused.status, refused.json().code]).toEqual([503, 'store_unavailable']);
      expect(refused.headers['retry-after']).toBe('1');
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
    expect((await api.sendSingle(api.event)).status).toBe(202);
  });
});
