import { randomInt } from 'node:crypto';
import { BoundedMap } from '../../kernel/bounded-map.js';
import { utcMonthAt } from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import type { Postgres } from '../../platform/postgres/index.js';
import type { SegmentQueue, SegmentRecord } from '../../platform/queue/index.js';
import {
  admitInOrder,
  chargeKey,
  type QuotaCharge,
  type QuotaRecord,
  type QuotaRefusal,
  quotaCharges,
} from './admit.js';
import { addChunks, type Prepayment, prepayAgain, usedByKey } from './prepaid.js';
import {
  countingOf,
  isOverQuota,
  openCounters,
  prepay,
  readCounters,
  takeBackPrepaid,
  withQuotasLocked,
} from './store.js';

/** Counters are numbered from 1 to this. Processes with the same number wait for each other's commits. */
const COUNTERS_MAX = 64;
/** Upper bound of the quotas whose prepaid events are remembered. */
const QUOTAS_KNOWN_MAX = 50_000;

/** The events that this process's own counter of a quota had prepaid when it was last changed here. */
interface KnownPrepaid {
  readonly eventLimit: number | null;
  /**
   * Can be less than stored after an append has failed, and more after a rebuild, or if another process uses the same
   * counter.
   */
  prepaid: number;
  /** Whether the quota had no room for a request. */
  readonly isSpent: boolean;
}

/**
 * Appends requests to the queue as far as the quotas of their tenants have room. Each process has its own counter in
 * every quota, which prepays events in chunks. So appends of different processes do not wait for each other until the
 * quota is almost used up.
 */
export class EventQuotas {
  readonly #postgres: Pick<Postgres, 'pool'>;
  readonly #queue: Pick<SegmentQueue<never>, 'appendWith'>;
  readonly #counterNo: number;
  /** By `chargeKey`. It only selects the first attempt: the statements themselves keep the quotas exact. */
  readonly #known = new BoundedMap<string, KnownPrepaid>(QUOTAS_KNOWN_MAX);

  /** @param counterNo number of this process's counters, from 1 to 64; default random */
  constructor(
    postgres: Pick<Postgres, 'pool'>,
    queue: Pick<SegmentQueue<never>, 'appendWith'>,
    counterNo: number = randomInt(COUNTERS_MAX) + 1,
  ) {
    this.#postgres = postgres;
    this.#queue = queue;
    this.#counterNo = counterNo;
  }

  /**
   * Appends requests as one segment, and counts their events in the same statement. Durable once it resolves; after a
   * rejection the result is unknown.
   *
   * @returns the requests that were left out as a whole because a quota has no room for them; nothing of them is
   * counted
   */
  async appendWithinQuota(records: readonly QuotaRecord[]): Promise<readonly QuotaRefusal[]> {
    const charges = quotaCharges(records);
    if (this.#spendKnown(charges) && (await this.#appendPrepaid(records, charges))) return [];
    const isSpent = charges.some((charge) => this.#knownOf(charge)?.isSpent === true);
    if (!isSpent && (await this.#prepayChunks(charges)) && (await this.#appendPrepaid(records, charges))) {
      return [];
    }
    return this.#appendAdmitted(records, charges);
  }

  /**
   * Returns whether all charges are prepaid, as far as is known, and then spends them. If they are not, no append is
   * tried, because it would fail, and PostgreSQL logs failures.
   */
  #spendKnown(charges: readonly QuotaCharge[]): boolean {
    const spent: [KnownPrepaid, number][] = [];
    for (const charge of charges) {
      const known = this.#knownOf(charge);
      if (known === undefined || known.prepaid < charge.eventCount) return false;
      spent.push([known, charge.eventCount]);
    }
    for (const [known, eventCount] of spent) known.prepaid -= eventCount;
    return true;
  }

  /** Returns what is known about a quota under the limit of the charge. */
  #knownOf({ tenantId, monthStartS, eventLimit }: QuotaCharge): KnownPrepaid | undefined {
    const known = this.#known.get(chargeKey(tenantId, monthStartS));
    return known?.eventLimit === eventLimit ? known : undefined;
  }

  /**
   * Appends requests that this process's counters have prepaid.
   *
   * @returns false, with nothing appended, if they have prepaid less than is known here
   */
  async #appendPrepaid(records: readonly QuotaRecord[], charges: readonly QuotaCharge[]): Promise<boolean> {
    try {
      await this.#queue.appendWith(countingOf(charges, this.#counterNo), records.map(recordOf));
      return true;
    } catch (error) {
      if (!isOverQuota(error)) throw error;
      for (const { tenantId, monthStartS } of charges) this.#known.delete(chargeKey(tenantId, monthStartS));
      return false;
    }
  }

  /**
   * Prepays chunks, in a transaction before the append: if the process ends between the two, others can take the chunks
   * back. Waits for other processes that prepay for the same quotas, but not for their appends.
   *
   * @returns false if a quota has too little room that no counter has prepaid
   */
  async #prepayChunks(charges: readonly QuotaCharge[]): Promise<boolean> {
    const prepayments = await withQuotasLocked(this.#postgres, charges, async (client, quotas) => {
      await openCounters(client, charges, this.#counterNo);
      const counters = [...quotas, ...(await readCounters(client, charges))];
      const chunks = addChunks(charges, counters, this.#counterNo);
      if (chunks !== undefined) await prepay(client, chunks, this.#counterNo);
      return chunks;
    });
    if (prepayments === undefined) return false;
    this.#rememberPrepaid(charges, prepayments);
    return true;
  }

  /** Takes back what all counters have prepaid, and decides each request separately, with the quotas locked. */
  async #appendAdmitted(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
  ): Promise<readonly QuotaRefusal[]> {
    const decided = await withQuotasLocked(this.#postgres, charges, async (client, quotas) => {
      const counters = [...quotas, ...(await takeBackPrepaid(client, charges))];
      const { admitted, refusals } = admitInOrder(records, charges, usedByKey(counters));
      const admittedCharges = quotaCharges(admitted);
      const prepayments = prepayAgain(admittedCharges, counters);
      if (admitted.length > 0) {
        await prepay(client, prepayments, this.#counterNo);
        const counting = countingOf(admittedCharges, this.#counterNo);
        await this.#queue.appendWith(counting, admitted.map(recordOf), client);
      }
      return { admittedCharges, prepayments, refusals };
    });
    this.#rememberPrepaid(decided.admittedCharges, decided.prepayments);
    this.#rememberSpent(records, charges, decided.refusals);
    return decided.refusals;
  }

  /** Remembers the prepaid events, less the charges that are appended with them. */
  #rememberPrepaid(charges: readonly QuotaCharge[], prepayments: readonly Prepayment[]): void {
    for (const [at, { tenantId, monthStartS, eventLimit, prepaid }] of prepayments.entries()) {
      const { eventCount } = present(charges[at], 'the charge of a prepayment');
      const known = { eventLimit, prepaid: prepaid - eventCount, isSpent: false };
      this.#known.set(chargeKey(tenantId, monthStartS), known);
    }
  }

  /** Remembers the quotas that refused requests. Until they have room, each of their requests is decided separately. */
  #rememberSpent(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
    refusals: readonly QuotaRefusal[],
  ): void {
    const refused = new Set(refusals.map(({ index }) => records[index]?.record.scope.tenantId));
    for (const { tenantId, monthStartS, eventLimit } of charges) {
      if (!refused.has(tenantId)) continue;
      this.#known.set(chargeKey(tenantId, monthStartS), { eventLimit, prepaid: 0, isSpent: true });
    }
  }
}

function recordOf({ record }: QuotaRecord) {
  return record;
}

/** After this time a quota is checked again, because it may have been recounted. */
const REMEMBERED_MS = 1_000;
const TENANTS_MAX = 10_000;

interface Spent {
  readonly monthEndS: number;
  readonly used: number;
  readonly atMs: number;
}

/**
 * Remembers what tenants had used when their quota refused events. Use only grows, so what did not fit then is refused
 * without a write: tenants over their quota cost the others nothing.
 */
export class SpentQuotas {
  readonly #tenants = new BoundedMap<string, Spent>(TENANTS_MAX);

  remember({ scope: { tenantId }, receivedAtMs }: SegmentRecord, used: number): void {
    const monthEndS = utcMonthAt(receivedAtMs / 1_000).endS;
    this.#tenants.set(tenantId, { monthEndS, used, atMs: receivedAtMs });
  }

  /** Returns what the tenant had used, if that alone leaves no room for the record. */
  usedWithoutRoom(record: SegmentRecord, monthlyEventLimit: number): number | undefined {
    if (monthlyEventLimit < 0) return undefined;
    const { tenantId } = record.scope;
    const spent = this.#tenants.get(tenantId);
    if (spent === undefined) return undefined;
    const ageMs = record.receivedAtMs - spent.atMs;
    const isSameMonth = record.receivedAtMs < spent.monthEndS * 1_000;
    if (isSameMonth && ageMs >= 0 && ageMs < REMEMBERED_MS) {
      return spent.used + record.eventCount > monthlyEventLimit ? spent.used : undefined;
    }
    this.#tenants.delete(tenantId);
    return undefined;
  }
}
