import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isTenantMoving, TenantDb, transaction } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue } from '../../platform/queue/index.js';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { admitInOrder, chargeKey, quotaCharges } from './admit.js';
import { EventQuotas } from './event-quotas.js';
import { quotaRecord } from './quota-record.testing.js';
import { usedEvents } from './store.js';

const JUNE_S = Date.UTC(2026, 5, 1) / 1_000;
const JULY_S = Date.UTC(2026, 6, 1) / 1_000;

let store: TestPostgres;
let queue: PostgresSegmentQueue;
let quotas: EventQuotas;
beforeAll(async () => {
  store = await createTestPostgres();
  queue = new PostgresSegmentQueue(store.postgres);
  quotas = new EventQuotas(store.postgres, queue);
});
afterEach(() =>
  store.postgres.pool.query('truncate segments, event_quotas, event_quota_counters, tenant_moves cascade'),
);
afterAll(() => store.drop());

async function usedBy(tenantId: string, monthStartS = JUNE_S): Promise<number> {
  return usedEvents(new TenantDb(store.postgres.db, tenantId), monthStartS);
}

/** Counts the queued events of all tenants. */
async function queued(): Promise<number> {
  const { rows } = await store.postgres.pool.query(
    'select coalesce(sum(event_count), 0)::bigint as events from segments',
  );
  return rows[0].events;
}

/** Replaces the moves of tenants by the rows of an SQL expression. */
async function moveTenants(rows: string): Promise<void> {
  await store.postgres.pool.query(`delete from tenant_moves; insert into tenant_moves ${rows}`);
}

describe('appending within quotas', () => {
  it('counts what it appends, retries too, with a limit or without', async () => {
    const limited = { tenantId: 'ten_2', limit: 10 };
    const records = [quotaRecord(3), quotaRecord(2, limited), quotaRecord(1), quotaRecord(4, limited)];
    expect(await quotas.appendWithinQuota(records)).toEqual([]);
    expect(await quotas.appendWithinQuota([quotaRecord(4, limited)])).toEqual([]);
    expect([await usedBy('ten_1'), await usedBy('ten_2'), await queued()]).toEqual([4, 10, 14]);
    const { rows } = await store.postgres.pool.query('select count(*) as n from segments');
    expect(rows[0].n).toBe(2);
  });

  it('opens no counter without the lock of its quota', async () => {
    expect(await quotas.appendWithinQuota([quotaRecord(4, { limit: 10 })])).toEqual([]);
    await store.postgres.pool.query(`delete from event_quota_counters; update event_quotas set used = 10`);
    expect(await quotas.appendWithinQuota([quotaRecord(1, { limit: 10 })])).toEqual([{ index: 0, used: 10 }]);
    expect(await usedBy('ten_1')).toBe(10);
  });

  it.each(['frozen', 'moved', 'arriving', 'leaving'])(
    'appends nothing of a tenant that is %s, whatever is prepaid',
    async (state) => {
      const appendTwo = () =>
        quotas.appendWithinQuota([quotaRecord(1), quotaRecord(1, { tenantId: 'ten_2' })]);
      await appendTwo();
      await moveTenants(`values ('ten_2', 'm1', '${state}', 0)`);
      expect(isTenantMoving(await appendTwo().catch((error: unknown) => error))).toBe(true);
      // A process that has prepaid nothing.
      const other = new EventQuotas(store.postgres, queue, 2);
      const refused = other.appendWithinQuota([quotaRecord(1, { tenantId: 'ten_2' })]);
      expect(isTenantMoving(await refused.catch((error: unknown) => error))).toBe(true);
      expect([await usedBy('ten_1'), await usedBy('ten_2'), await queued()]).toEqual([1, 1, 2]);
    },
  );

  it('appends events of a tenant whose move still accepts them', async () => {
    for (const state of ['copying', 'draining']) {
      await moveTenants(`values ('ten_1', 'm1', '${state}', 0)`);
      expect(await quotas.appendWithinQuota([quotaRecord(1)])).toEqual([]);
    }
    expect(await usedBy('ten_1')).toBe(2);
  });

  it('leaves out, whole, what has no room, and counts nothing of it; the others go on', async () => {
    const limit = 10;
    const records = [
      quotaRecord(6, { limit }),
      quotaRecord(5, { limit }),
      quotaRecord(7, { tenantId: 'ten_2' }),
      quotaRecord(4, { limit }),
      quotaRecord(1, { limit }),
    ];
    expect(await quotas.appendWithinQuota(records)).toEqual([
      { index: 1, used: 6 },
      { index: 4, used: 10 },
    ]);
    expect([await usedBy('ten_1'), await usedBy('ten_2'), await queued()]).toEqual([10, 7, 17]);
    const segments = await transaction(store.postgres, (tx) => queue.claim(tx, 100));
    expect(segments[0]?.records).toEqual([0, 2, 3].map((index) => records[index]?.record));
  });

  it('appends nothing when there is room for nothing', async () => {
    expect(await quotas.appendWithinQuota([quotaRecord(1, { limit: 0 })])).toEqual([{ index: 0, used: 0 }]);
    expect([await usedBy('ten_1'), await queued()]).toEqual([0, 0]);
  });

  it('restarts with the calendar month of the arrival, within one write too', async () => {
    const limit = 3;
    const last = { limit, receivedAtMs: JULY_S * 1_000 - 1 };
    const first = { limit, receivedAtMs: JULY_S * 1_000 };
    await quotas.appendWithinQuota([quotaRecord(2, last)]);
    expect(
      await quotas.appendWithinQuota([quotaRecord(1, last), quotaRecord(1, last), quotaRecord(3, first)]),
    ).toEqual([{ index: 1, used: 3 }]);
    expect([await usedBy('ten_1', JUNE_S), await usedBy('ten_1', JULY_S)]).toEqual([3, 3]);
  });

  it('refuses all under a limit below what was used, and takes more once it is raised', async () => {
    await quotas.appendWithinQuota([quotaRecord(100)]);
    expect(await quotas.appendWithinQuota([quotaRecord(1, { limit: 50 })])).toEqual([
      { index: 0, used: 100 },
    ]);
    expect(await quotas.appendWithinQuota([quotaRecord(1, { limit: 101 })])).toEqual([]);
    expect(await quotas.appendWithinQuota([quotaRecord(1, { limit: 101 })])).toEqual([
      { index: 0, used: 101 },
    ]);
    expect(await quotas.appendWithinQuota([quotaRecord(1)])).toEqual([]);
    expect(await usedBy('ten_1')).toBe(102);
  });

  it('gives away exactly what there is, however many ask at once', async () => {
    const limit = 50;
    const tenants = ['ten_1', 'ten_2', 'ten_3'];
    const writes = Array.from({ length: 60 }, (_, n) => {
      // In all orders: writes that lock one after the other must never deadlock.
      const order = n % 2 === 0 ? tenants : [...tenants].reverse();
      return quotas.appendWithinQuota(order.map((tenantId) => quotaRecord(1 + (n % 3), { tenantId, limit })));
    });
    const refusals = (await Promise.all(writes)).map((refused) => new Set(refused.map(({ index }) => index)));
    for (const [place, tenantId] of tenants.entries()) {
      const admitted = refusals.reduce((sum, refused, n) => {
        const index = n % 2 === 0 ? place : tenants.length - 1 - place;
        return sum + (refused.has(index) ? 0 : 1 + (n % 3));
      }, 0);
      expect(admitted).toBe(50);
      expect(await usedBy(tenantId)).toBe(50);
    }
    expect(await queued()).toBe(150);
  });

  it('tries an append only if its events are known to be prepaid', async () => {
    const { pool } = store.postgres;
    const tried: (string | undefined)[] = [];
    const watched = new Proxy(pool, {
      get: (target, name) => {
        if (name !== 'query') return Reflect.get(target, name).bind(target);
        return (query: { name?: string }) => {
          tried.push(query.name);
          return target.query(query as never);
        };
      },
    });
    const own = { pool: watched };
    const ownQuotas = new EventQuotas(own, new PostgresSegmentQueue(own));
    const refusalsOf = async (eventCount: number, limit: number) =>
      (
        await ownQuotas.appendWithinQuota([
          quotaRecord(eventCount, { limit }),
          quotaRecord(1, { tenantId: 'ten_2' }),
        ])
      ).length;
    expect([await refusalsOf(5, 4), await refusalsOf(5, 4), await refusalsOf(6, 4)]).toEqual([1, 1, 1]);
    expect(tried).toEqual([]);
    expect([await refusalsOf(5, 50), await refusalsOf(5, 50), await refusalsOf(5, 60)]).toEqual([0, 0, 0]);
    expect(tried).toHaveLength(2);
    expect([await refusalsOf(46, 60), tried.length]).toEqual([1, 2]);
    expect([await usedBy('ten_1'), await usedBy('ten_2'), await queued()]).toEqual([15, 7, 22]);
  });

  it('counts nothing when the write fails', async () => {
    await store.postgres.pool.query('alter table segments add constraint broken check (event_count < 5)');
    try {
      await expect(quotas.appendWithinQuota([quotaRecord(5)])).rejects.toThrow('broken');
      const over = [quotaRecord(5, { limit: 5 }), quotaRecord(1, { limit: 5 })];
      await expect(quotas.appendWithinQuota(over)).rejects.toThrow('broken');
    } finally {
      await store.postgres.pool.query('alter table segments drop constraint broken');
    }
    expect([await usedBy('ten_1'), await queued()]).toEqual([0, 0]);
    expect(await quotas.appendWithinQuota([quotaRecord(5)])).toEqual([]);
  });
});

describe('deciding in order', () => {
  const records = fc.array(
    fc
      .record({
        tenantId: fc.constantFrom('a', 'b'),
        eventCount: fc.integer({ min: 1, max: 9 }),
        isJuly: fc.boolean(),
      })
      .map(({ tenantId, eventCount, isJuly }) =>
        quotaRecord(eventCount, {
          tenantId,
          limit: tenantId === 'a' ? 12 : -1,
          receivedAtMs: (isJuly ? JULY_S : JUNE_S) * 1_000,
        }),
      ),
    { minLength: 1, maxLength: 12 },
  );

  it('admits each request exactly if it fits behind those admitted before it', () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 0, max: 15 }), (all, before) => {
        const key = chargeKey('a', JUNE_S);
        const { admitted, refusals } = admitInOrder(all, quotaCharges(all), new Map([[key, before]]));
        const refused = new Map(refusals.map(({ index, used }) => [index, used]));
        const used = new Map([[key, before]]);
        const expected = all.filter(({ record, monthlyEventLimit }, index) => {
          const month = record.receivedAtMs === JULY_S * 1_000 ? JULY_S : JUNE_S;
          const own = chargeKey(record.scope.tenantId, month);
          const sum = (used.get(own) ?? 0) + record.eventCount;
          const fits = monthlyEventLimit < 0 || sum <= monthlyEventLimit;
          expect(refused.get(index)).toBe(fits ? undefined : (used.get(own) ?? 0));
          if (fits) used.set(own, sum);
          return fits;
        });
        expect(admitted).toEqual(expected);
      }),
    );
  });

  it('adds up by tenant and month, in the order of their keys', () => {
    fc.assert(
      fc.property(records, (all) => {
        const charges = quotaCharges(all);
        const keys = charges.map(({ tenantId, monthStartS }) => chargeKey(tenantId, monthStartS));
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).toEqual([...keys].sort());
        expect(charges.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(
          all.reduce((sum, { record }) => sum + record.eventCount, 0),
        );
      }),
    );
  });
});
