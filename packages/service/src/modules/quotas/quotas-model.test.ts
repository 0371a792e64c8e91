import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TenantDb, transaction } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue } from '../../platform/queue/index.js';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { admitInOrder, chargeKey, type QuotaRecord, quotaCharges } from './admit.js';
import { EventQuotas } from './event-quotas.js';
import { quotaRecord } from './quota-record.testing.js';
import { rebuildQuotas, recountQuotas } from './recount-store.js';
import { usedEvents } from './store.js';

const JUNE_S = Date.UTC(2026, 5, 1) / 1_000;
const JULY_S = Date.UTC(2026, 6, 1) / 1_000;
const TENANTS = ['ten_1', 'ten_2'];
const DIFFERENCES_MAX = 100;

let store: TestPostgres;
let queue: PostgresSegmentQueue;
beforeAll(async () => {
  store = await createTestPostgres();
  queue = new PostgresSegmentQueue(store.postgres);
  for (const tenantId of TENANTS) await createProject(store.postgres, tenantId, `prj_of_${tenantId}`);
});
afterAll(() => store.drop());

const query = (text: string) => store.postgres.pool.query(text);
const usedBy = (tenantId: string, monthStartS = JUNE_S) =>
  usedEvents(new TenantDb(store.postgres.db, tenantId), monthStartS);
/** An accepting process; those with the same number share their counters. */
const processOf = (counterNo: number) => new EventQuotas(store.postgres, queue, counterNo);

async function empty(): Promise<void> {
  await query(
    'truncate segments, event_quotas, event_quota_counters, event_arrivals, event_arrival_counters',
  );
}

const asked = (eventCount: number, limit: number | null, tenantId = 'ten_1', monthS = JUNE_S) =>
  quotaRecord(eventCount, { limit: limit ?? -1, tenantId, receivedAtMs: monthS * 1_000 });

describe('any number of processes', () => {
  const NUMBERS = [1, 2, 3, 3];
  const append = fc.record({
    kind: fc.constant('append' as const),
    process: fc.nat(NUMBERS.length - 1),
    requests: fc.array(
      fc.record({
        eventCount: fc.integer({ min: 1, max: 12 }),
        tenantId: fc.constantFrom(...TENANTS),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  });
  const step = fc.oneof(
    { weight: 12, arbitrary: append },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('crowd' as const),
        appends: fc.array(append, { minLength: 2, maxLength: 8 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('limit' as const),
        tenants: fc.subarray(TENANTS, { minLength: 1 }),
        limit: fc.constantFrom(null, 0, 20, 60, 200),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('july' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('restart' as const), process: fc.nat(NUMBERS.length - 1) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('rebuild' as const), error: fc.integer({ min: 0, max: 9 }) }),
    },
  );
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
  type Append = typeof append extends fc.Arbitrary<infer T> ? T : never;

  /** Decides like a single process that has one count for each tenant and month. */
  class Model {
    readonly #processes = NUMBERS.map((counterNo) => processOf(counterNo));
    readonly #used = new Map<string, number>();
    readonly #limits = new Map<string, number | null>(TENANTS.map((tenantId) => [tenantId, 60]));
    #monthS = JUNE_S;

    async perform(performed: Step): Promise<void> {
      if (performed.kind === 'append') await this.#append(performed);
      else if (performed.kind === 'crowd') await this.#crowd(performed.appends);
      else if (performed.kind === 'limit') {
        for (const tenantId of performed.tenants) this.#limits.set(tenantId, performed.limit);
      } else if (performed.kind === 'july') this.#monthS = JULY_S;
      else if (performed.kind === 'restart') {
        this.#processes[performed.process] = processOf(NUMBERS[performed.process] ?? 1);
      } else {
        await query(`update event_quota_counters set used = used + ${performed.error} where counter_no = 2`);
        await transaction(store.postgres, rebuildQuotas);
      }
      for (const tenantId of TENANTS) {
        for (const monthS of [JUNE_S, JULY_S]) {
          expect(await usedBy(tenantId, monthS)).toBe(this.#used.get(chargeKey(tenantId, monthS)) ?? 0);
        }
      }
    }

    #send({ process, requests }: Append): Promise<readonly { index: number; used: number }[]> {
      const quotas = this.#processes[process] as EventQuotas;
      return quotas.appendWithinQuota(this.#records(requests));
    }

    #records(requests: Append['requests']): QuotaRecord[] {
      return requests.map(({ eventCount, tenantId }) =>
        asked(eventCount, this.#limitOf(tenantId), tenantId, this.#monthS),
      );
    }

    async #append(performed: Append): Promise<void> {
      const records = this.#records(performed.requests);
      const { admitted, refusals } = admitInOrder(records, quotaCharges(records), this.#used);
      expect(await this.#send(performed)).toEqual(refusals);
      this.#count(admitted);
    }

    /** Competing requests are decided in any order, but a refused one never fits afterwards. */
    async #crowd(appends: readonly Append[]): Promise<void> {
      const refusals = await Promise.all(appends.map((performed) => this.#send(performed)));
      const refused: QuotaRecord[] = [];
      for (const [at, { requests }] of appends.entries()) {
        const indexes = new Set(refusals[at]?.map(({ index }) => index));
        const records = this.#records(requests);
        this.#count(records.filter((_record, index) => !indexes.has(index)));
        refused.push(...records.filter((_record, index) => indexes.has(index)));
      }
      for (const tenantId of TENANTS) {
        const used = this.#used.get(chargeKey(tenantId, this.#monthS)) ?? 0;
        const own = refused.filter(({ record }) => record.scope.tenantId === tenantId);
        for (const { record } of own)
          expect(used + record.eventCount).toBeGreaterThan(this.#limitOf(tenantId) ?? Infinity);
      }
      await this.#staysWithin(appends, refusals);
    }

    /** Nothing was accepted beyond the limit: a tenant of which something was accepted is within it. */
    async #staysWithin(
      appends: readonly Append[],
      refusals: readonly (readonly { index: number }[])[],
    ): Promise<void> {
      for (const [at, { requests }] of appends.entries()) {
        const indexes = new Set(refusals[at]?.map(({ index }) => index));
        for (const [index, { tenantId }] of requests.entries()) {
          const limit = this.#limitOf(tenantId);
          if (!indexes.has(index) && limit !== null)
            expect(await usedBy(tenantId, this.#monthS)).toBeLessThanOrEqual(limit);
        }
      }
    }

    #limitOf(tenantId: string): number | null {
      return this.#limits.get(tenantId) ?? null;
    }

    #count(admitted: readonly QuotaRecord[]): void {
      for (const { record } of admitted) {
        const key = chargeKey(record.scope.tenantId, this.#monthS);
        this.#used.set(key, (this.#used.get(key) ?? 0) + record.eventCount);
      }
    }
  }

  it('accept exactly what one process would accept', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }), async (steps) => {
          const model = new Model();
          for (const performed of steps) await model.perform(performed);
          expect((await recountQuotas(store.postgres, DIFFERENCES_MAX)).difference_count).toBe(0);
        })
        .beforeEach(empty),
      { numRuns: 40 },
    );
  });
});
