import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BothWays, listenBothWays, postBytes, sameAnswer } from '../../testing/both-ways.js';
import { createTestIngest, type TestIngest } from '../../testing/ingest-api.js';
import type { EventAdmission } from '../quotas/index.js';
import { IngestService } from './index.js';

/** The tenant's entitlement, set by each test. */
let entitlement: ReturnType<EventAdmission['eventEntitlementOf']>;
let api: TestIngest;
let ways: BothWays;

const JUNE_END_S = Date.UTC(2026, 6, 1) / 1_000;
const WINDOW = { ageDaysMax: 90, aheadDaysMax: 3 };
const limitedTo = (monthlyEventLimit: number) => ({
  isEntitled: true,
  window: WINDOW,
  monthlyEventLimit,
  endsAt: null,
});

beforeAll(async () => {
  api = await createTestIngest(undefined, () => ({ eventEntitlementOf: () => entitlement }));
  ways = await listenBothWays(api.app);
});
beforeEach(async () => {
  entitlement = limitedTo(-1);
  await api.postgres.pool.query('truncate segments, event_quotas, event_quota_counters');
  // Refusals are cached for a second; this is more.
  goTo(JUNE_END_S - 3_600 - ++runs * 10);
});
afterAll(async () => {
  await ways.close();
  await api.close();
});

let runs = 0;
const goTo = (atS: number) => api.clock.advanceMs(atS * 1_000 - api.clock.nowMs());
const nowS = () => Math.floor(api.clock.nowMs() / 1_000);
const eventAt = (occurredAt: number) => ({ ...api.event, occurred_at: occurredAt });
const batchOf = (count: number) => ({
  events: Array.from({ length: count }, (_, n) =>
    api.item({ occurred_at: nowS(), idempotency_key: `k-${n}` }),
  ),
});

async function used(): Promise<number> {
  const { rows } = await api.postgres.pool.query(
    'select coalesce(sum(used), 0)::bigint as used from event_quota_counters where tenant_id = $1',
    [api.tenantId],
  );
  return rows[0].used;
}

describe('the event quota', () => {
  it('counts every accepted attempt, retries too, and nothing that is refused', async () => {
    const event = eventAt(nowS());
    for (let n = 0; n < 3; n += 1) expect((await api.sendSingle(event)).status).toBe(202);
    expect((await api.sendBatch(batchOf(4))).status).toBe(202);
    expect((await api.sendBatch(batchOf(4))).status).toBe(202);
    expect((await api.sendSingle({ ...event, source: 1 })).status).toBe(400);
    expect(await used()).toBe(11);
  });

  it('takes a batch whole or not at all, and what is smaller as long as it fits', async () => {
    entitlement = limitedTo(5);
    expect((await api.sendBatch(batchOf(4))).status).toBe(202);
    const refused = await api.sendBatch(batchOf(2));
    expect([refused.status, refused.json()]).toEqual([
      429,
      {
        error: "The subscription plan's monthly event limit is reached; nothing was accepted.",
        code: 'event_quota_exceeded',
        details: [{ path: 'monthly_event_limit', message: 'allows 5 in a calendar month; 4 used, 2 sent' }],
      },
    ]);
    expect(refused.headers['retry-after']).toBe(String(JUNE_END_S - nowS()));
    expect((await api.sendSingle(eventAt(nowS()))).status).toBe(202);
    expect((await api.sendSingle(eventAt(nowS()))).status).toBe(429);
    expect((await api.takeQueued()).map(({ eventCount }) => eventCount)).toEqual([4, 1]);
    expect(await used()).toBe(5);
  });

  it('restarts with the first second of the month by itself', async () => {
    entitlement = limitedTo(1);
    goTo(JUNE_END_S - 1);
    expect((await api.sendSingle(eventAt(nowS()))).status).toBe(202);
    const refused = await api.sendSingle(eventAt(nowS()));
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    goTo(JUNE_END_S);
    expect((await api.sendSingle(eventAt(nowS()))).status).toBe(202);
    expect((await api.sendSingle(eventAt(nowS()))).status).toBe(429);
  });

  it('gives away exactly what there is to a crowd, whichever way it comes', async () => {
    entitlement = limitedTo(20);
    const headers = { authorization: `Bearer ${api.serviceKey}`, 'content-type': 'application/json' };
    const path = `${api.ruleSetsUrl}/${api.ruleSetId}/events/ingest`;
    const body = JSON.stringify(eventAt(nowS()));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        fetch(`http://127.0.0.1:${n % 2 === 0 ? ways.express : ways.fastify}${path}`, {
          method: 'POST',
          headers,
          body,
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    expect(await used()).toBe(20);
    const refused = await sameAnswer(ways, postBytes(path, headers, body));
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([429, 'event_quota_exceeded']);
    expect(refused.head).toContain(`retry-after: ${JUNE_END_S - nowS()}`);
    entitlement = { ...limitedTo(0), isEntitled: false };
    const unentitled = await sameAnswer(ways, postBytes(path, headers, body));
    expect([unentitled.status, JSON.parse(unentitled.body).code]).toEqual([403, 'no_entitlement']);
  });
});

describe("the tenant's plan", () => {
  it('bounds how old and how far ahead an event may be', async () => {
    const dayS = 86_400;
    const statusAt = async (occurredAt: number) => (await api.sendSingle(eventAt(occurredAt))).status;
    expect(await statusAt(nowS() - 90 * dayS)).toBe(202);
    expect(await statusAt(nowS() + 3 * dayS)).toBe(202);
    expect(await statusAt(nowS() - 90 * dayS - 1)).toBe(400);
    const late = await api.sendSingle(eventAt(nowS() + 3 * dayS + 1));
    expect([late.status, late.json().code]).toEqual([400, 'occurred_at_out_of_range']);
  });

  it('is asked for before anything of the body is; without one nothing is accepted', async () => {
    entitlement = Promise.resolve({ ...limitedTo(0), isEntitled: false });
    for (const answer of [
      await api.sendSingle(eventAt(nowS())),
      await api.sendBatch(batchOf(1)),
      await api.sendSingle(eventAt(0)),
    ]) {
      expect([answer.status, answer.json()]).toEqual([
        403,
        {
          error: 'The tenant has no subscription plan. Events are accepted once it has one.',
          code: 'no_entitlement',
        },
      ]);
    }
    expect(await used()).toBe(0);
    entitlement = Promise.resolve(limitedTo(1));
    expect((await api.sendSingle(eventAt(nowS()))).status).toBe(202);
  });

  it('that cannot be read accepts nothing', async () => {
    const service = new IngestService({
      quotas: { appendWithinQuota: () => Promise.reject(new Error('not to be reached')) },
      queue: {
        backlog: async () => ({
          segments: 0,
          events: 0,
          bytes: 0,
          deferredEvents: 0,
          oldestReceivedAtMs: undefined,
        }),
        tenantsHolding: async () => [],
      },
      publications: { isKnownPublished: () => true, read: async () => new Map() },
      clock: api.clock,
      admission: { eventEntitlementOf: () => Promise.reject(new Error('away')) },
      scheduler: { every: () => () => {} },
    });
    const event = { source: 's', occurred_at: nowS(), raw_json: {} };
    const project = {
      tenantId: 'ten_1',
      projectId: 'prj_1',
      projectNo: 1,
      kind: 'release' as const,
      storage: 'shared' as const,
    };
    const sent = service.acceptSingle(project, 'ers_1', event, Buffer.from(JSON.stringify(event)));
    await expect(sent).rejects.toThrow('away');
    await service.close();
  });
});
