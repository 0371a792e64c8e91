import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TenantDb, type Tx, transaction } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue, type SegmentQueue } from '../../platform/queue/index.js';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import type { QuotaRecord } from './admit.js';
import { EventQuotas } from './event-quotas.js';
import { quotaRecord } from './quota-record.testing.js';
import { rebuildQuotas } from './recount-store.js';
import { addArrivals, takeCounterNo, usedEvents, withQuotasLocked } from './store.js';

const JUNE_S = Date.UTC(2026, 5, 1) / 1_000;
const TENANTS = ['ten_1', 'ten_2'];

let store: TestPostgres;
let queue: PostgresSegmentQueue;
beforeAll(async () => {
  store = await createTestPostgres();
  queue = new PostgresSegmentQueue(store.postgres);
  for (const tenantId of TENANTS) await createProject(store.postgres, tenantId, `prj_of_${tenantId}`);
});
beforeEach(empty);
afterAll(() => store.drop());

const query = (text: string) => store.postgres.pool.query(text);
const usedBy = (tenantId: string, monthStartS = JUNE_S) =>
  usedEvents(new TenantDb(store.postgres.db, tenantId), monthStartS);
/** An accepting process; those with the same number share their counters. */
const processOf = (counterNo: number, own: Pick<SegmentQueue<Tx>, 'appendWith'> = queue) =>
  new EventQuotas(store.postgres, own, counterNo);

async function empty(): Promise<void> {
  await query(
    'truncate segments, event_quotas, event_quota_counters, event_arrivals, event_arrival_counters',
  );
}

const asked = (eventCount: number, limit: number | null, tenantId = 'ten_1', monthS = JUNE_S) =>
  quotaRecord(eventCount, { limit: limit ?? -1, tenantId, receivedAtMs: monthS * 1_000 });

/** Returns what the counters of a tenant have prepaid, in the order of their numbers. */
async function prepaidOf(tenantId: string): Promise<number[]> {
  const { rows } = await query(
    `select prepaid from event_quota_counters where tenant_id = '${tenantId}' order by counter_no`,
  );
  return rows.map(({ prepaid }) => prepaid);
}

/** Appends one event after another, and returns how many were accepted before the first refusal. */
async function acceptAll(quotas: EventQuotas, limit: number): Promise<number> {
  let accepted = 0;
  while ((await quotas.appendWithinQuota([asked(1, limit)])).length === 0) accepted += 1;
  return accepted;
}

/** Runs `meanwhile` while an append of another process is not committed; `commits` says how it ends. */
async function whileAppending(
  counterNo: number,
  record: QuotaRecord,
  commits: boolean,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const client = await store.postgres.pool.connect();
  try {
    const held = { appendWith: queue.appendWith.bind(queue) as SegmentQueue<Tx>['appendWith'] };
    const quotas = processOf(counterNo, {
      appendWith: (companion, records, own) => held.appendWith(companion, records, own ?? client),
    });
    // Prepays, so that the next append of this process is a single statement.
    await quotas.appendWithinQuota([record]);
    await client.query('begin');
    expect(await quotas.appendWithinQuota([record])).toEqual([]);
    await meanwhile();
    if (commits) await client.query('commit');
  } finally {
    // A connection that ends leaves nothing of its transaction, as when its process is killed.
    client.release(!commits);
  }
}

describe('two accepting processes of one tenant', () => {
  it.each([null, 1_000_000])('do not wait for each other, with the limit %s', async (limit) => {
    const second = processOf(2);
    await whileAppending(1, asked(5, limit), true, async () => {
      // The first append prepays, the second spends; both end while the other process has not committed.
      expect(await second.appendWithinQuota([asked(3, limit)])).toEqual([]);
      expect(await second.appendWithinQuota([asked(3, limit)])).toEqual([]);
      expect(await usedBy('ten_1')).toBe(5 + 6);
    });
    expect(await usedBy('ten_1')).toBe(2 * 5 + 6);
  });

  it('do not wait for each other when a chunk is used up', async () => {
    const second = processOf(2);
    await whileAppending(1, asked(5, 100_000), true, async () => {
      const { rows } = await query('select prepaid from event_quota_counters');
      expect(await second.appendWithinQuota([asked(1, 100_000)])).toEqual([]);
      expect(await second.appendWithinQuota([asked(rows[0]?.prepaid, 100_000)])).toEqual([]);
    });
  });

  it('share the last events exactly, and take back what idle ones have prepaid', async () => {
    const [first, second, idle] = [processOf(1), processOf(2), processOf(3)];
    for (const quotas of [idle, first, second]) await quotas.appendWithinQuota([asked(1, 100)]);
    const accepted = await Promise.all([acceptAll(first, 100), acceptAll(second, 100)]);
    expect(accepted.reduce((sum, count) => sum + count, 3)).toBe(100);
    expect([await usedBy('ten_1'), await acceptAll(idle, 100)]).toEqual([100, 0]);
  });

  it('leave the chunks of other tenants to each other when one tenant is at its limit', async () => {
    const second = processOf(2);
    const mixed = (limit: number) => [asked(1, limit), asked(1, 1_000, 'ten_2')];
    await processOf(3).appendWithinQuota([asked(1, 1_000, 'ten_2')]);
    // The append of the first process holds its counter of the tenant that has room.
    await whileAppending(1, asked(1, 1_000, 'ten_2'), true, async () => {
      const prepaid = await prepaidOf('ten_2');
      expect(prepaid).toEqual([expect.any(Number), expect.any(Number)]);
      expect(await second.appendWithinQuota(mixed(1))).toEqual([]);
      expect(await second.appendWithinQuota(mixed(1))).toEqual([{ index: 0, used: 1 }]);
      // Now it knows that the quota is spent.
      expect(await second.appendWithinQuota(mixed(1))).toEqual([{ index: 0, used: 1 }]);
      expect((await prepaidOf('ten_2')).filter((_events, at) => at !== 1)).toEqual(prepaid);
    });
    expect([await usedBy('ten_1'), await usedBy('ten_2')]).toEqual([1, 1 + 2 + 3]);
  });

  it('decide about all tenants of an append when a chunk was taken back meanwhile', async () => {
    const first = processOf(1);
    const mixed = [asked(1, 1), asked(1, 100, 'ten_2')];
    expect(await first.appendWithinQuota(mixed)).toEqual([]);
    await query(`update event_quota_counters set prepaid = 0`);
    expect(await first.appendWithinQuota(mixed)).toEqual([{ index: 0, used: 1 }]);
    expect(await usedBy('ten_2')).toBe(2);
  });

  it('leave nothing behind when one is killed: every other event is accepted', async () => {
    const second = processOf(2);
    await whileAppending(1, asked(5, 100), false, async () => {
      expect(await second.appendWithinQuota([asked(1, 100)])).toEqual([]);
    });
    expect(await usedBy('ten_1')).toBe(6);
    expect([await acceptAll(second, 100), await usedBy('ten_1')]).toEqual([94, 100]);
  });

  it('spend nothing that was prepaid under a limit that was changed and restored', async () => {
    const [first, idle] = [processOf(1), processOf(2)];
    await idle.appendWithinQuota([asked(1, 300)]);
    await first.appendWithinQuota([asked(400, 1_000)]);
    expect(await idle.appendWithinQuota([asked(1, 300)])).toEqual([{ index: 0, used: 401 }]);
    expect(await first.appendWithinQuota([asked(599, 1_000)])).toEqual([]);
    expect(await first.appendWithinQuota([asked(1, 1_000)])).toEqual([{ index: 0, used: 1_000 }]);
  });

  it('spend nothing that a process with the same number has prepaid under another limit', async () => {
    const [first, twin] = [processOf(1), processOf(1)];
    await first.appendWithinQuota([asked(1, 300)]);
    await twin.appendWithinQuota([asked(400, 1_000)]);
    expect(await first.appendWithinQuota([asked(1, 300)])).toEqual([{ index: 0, used: 401 }]);
  });

  it('take back what was prepaid without a limit', async () => {
    const [first, second] = [processOf(1), processOf(2)];
    await first.appendWithinQuota([asked(5, null)]);
    expect(await acceptAll(second, 8)).toBe(3);
    await first.appendWithinQuota([asked(5, null)]);
    expect([await usedBy('ten_1'), await acceptAll(second, 14)]).toEqual([13, 1]);
  });

  it('go on from the counts of an earlier release', async () => {
    await query(`insert into event_quotas (tenant_id, month_start, used, event_limit)
      values ('ten_1', ${JUNE_S}, 7, 8)`);
    expect([await usedBy('ten_1'), await acceptAll(processOf(1), 10)]).toEqual([7, 3]);
    expect(await usedBy('ten_1')).toBe(10);
  });

  it('count again after a rebuild, which has taken back what they had prepaid', async () => {
    const first = processOf(1);
    await first.appendWithinQuota([asked(10, 100)]);
    await query('update event_quota_counters set used = used + 50');
    expect(await transaction(store.postgres, rebuildQuotas)).toBe(1);
    expect([await usedBy('ten_1'), await acceptAll(first, 100)]).toEqual([10, 90]);
  });
});

it('gives the processes that start one after the other different numbers, from 1 to 64', async () => {
  const numbers = await Promise.all(Array.from({ length: 64 }, () => takeCounterNo(store.postgres)));
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, at) => at + 1));
  const again = await takeCounterNo(store.postgres);
  expect(await takeCounterNo(store.postgres)).toBe((again % 64) + 1);
});

it('ends a transaction that hangs with quotas locked, and gives its locks to others', async () => {
  const locked = [{ tenantId: 'ten_1', monthStartS: JUNE_S }];
  const hanging = withQuotasLocked(
    store.postgres,
    locked,
    // Ends only once another transaction has had the lock.
    () => withQuotasLocked(store.postgres, locked, async () => undefined),
    20,
  );
  await expect(hanging).rejects.toThrow(/not queryable|terminat/);
  expect(await acceptAll(processOf(1), 3)).toBe(3);
});

it('lets two batches count arrivals of one tenant at the same time', async () => {
  const arrived = (eventCount: number) => [{ tenantId: 'ten_1', receivedAtMs: JUNE_S * 1_000, eventCount }];
  await transaction(store.postgres, async (first) => {
    await addArrivals(first, arrived(3));
    await transaction(store.postgres, (second) => addArrivals(second, arrived(4)));
    await transaction(store.postgres, (second) => addArrivals(second, arrived(5)));
  });
  const { rows } = await query('select event_count from event_arrival_counters order by 1');
  expect(rows).toEqual([{ event_count: 3 }, { event_count: 9 }]);
});
