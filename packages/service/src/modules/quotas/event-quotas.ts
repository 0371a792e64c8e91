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

/** Appends by what is known: the first one by memory, the second one by what the counters have. */
const ATTEMPTS_MAX = 2;
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

  /** @param counterNo number of this process's counters, from 1 to 64; see `takeCounterNo` */
  constructor(
    postgres: Pick<Postgres, 'pool'>,
    queue: Pick<SegmentQueue<never>, 'appendWith'>,
    counterNo = 1,
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
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const lacking = this.#spendKnown(charges);
      const tight = lacking.length === 0 ? [] : await this.#prepayChunks(lacking);
      const refusals = await this.#tryAppend(records, charges, tight);
      if (refusals !== undefined) return refusals;
    }
    return this.#appendAdmitted(records, charges, charges);
  }

  /**
   * Spends the charges that are prepaid as far as is known, and returns the others. An append without them would fail,
   * and PostgreSQL logs failures.
   */
  #spendKnown(charges: readonly QuotaCharge[]): QuotaCharge[] {
    return charges.filter((charge) => {
      const known = this.#knownOf(charge);
      if (known === undefined || known.prepaid < charge.eventCount) return true;
      known.prepaid -= charge.eventCount;
      return false;
    });
  }

  /** Returns what is known of a quota under the limit of the charge. */
  #knownOf(charge: QuotaCharge): KnownPrepaid | undefined {
    const known = this.#known.get(keyOf(charge));
    return known?.eventLimit === charge.eventLimit ? known : undefined;
  }

  /**
   * Appends requests whose charges this process's counters have prepaid, apart from the tight ones.
   *
   * @param tight the charges for which there is too little that no counter has prepaid
   * @returns the refusals; undefined, with nothing appended, when the counters have prepaid less than is known here
   */
  async #tryAppend(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
    tight: readonly QuotaCharge[],
  ): Promise<readonly QuotaRefusal[] | undefined> {
    try {
      if (tight.length > 0) return await this.#appendAdmitted(records, charges, tight);
      await this.#queue.appendWith(countingOf(charges, this.#counterNo), records.map(recordOf));
      return [];
    } catch (error) {
      if (!isOverQuota(error)) throw error;
      for (const charge of charges) this.#known.delete(keyOf(charge));
      return undefined;
    }
  }

  /**
   * Prepays chunks, in a transaction before the append: if the process ends between the two, others can take the chunks
   * back. Waits for other processes that prepay for the same quotas, but not for their appends.
   *
   * @returns the charges for which there is too little that no counter has prepaid
   */
  async #prepayChunks(lacking: readonly QuotaCharge[]): Promise<readonly QuotaCharge[]> {
    // Their quotas had no room a moment ago.
    const isSpent = (charge: QuotaCharge) => this.#knownOf(charge)?.isSpent === true;
    const spent = lacking.filter(isSpent);
    const asked = lacking.filter((charge) => !isSpent(charge));
    if (asked.length === 0) return spent;
    const { prepayments, tight } = await withQuotasLocked(this.#postgres, asked, async (client, quotas) => {
      await openCounters(client, asked, this.#counterNo);
      const counters = [...quotas, ...(await readCounters(client, asked))];
      const chunks = addChunks(asked, counters, this.#counterNo);
      if (chunks.prepayments.length > 0) await prepay(client, chunks.prepayments, this.#counterNo);
      return chunks;
    });
    this.#rememberPrepaid(asked, prepayments);
    return [...spent, ...tight];
  }

  /**
   * Takes back what all counters of the tight charges have prepaid, and decides about each of their requests by itself,
   * with the quotas locked. The other charges are prepaid, and keep what is left of their chunks.
   *
   * @param tight some of the charges, or all
   */
  async #appendAdmitted(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
    tight: readonly QuotaCharge[],
  ): Promise<readonly QuotaRefusal[]> {
    const tightKeys = new Set(tight.map(keyOf));
    const isTight = (charge: QuotaCharge) => tightKeys.has(keyOf(charge));
    // In the order of the charges, in which rows are locked.
    const locked = charges.filter(isTight);
    const others = charges.filter((charge) => !isTight(charge));
    const decided = await withQuotasLocked(this.#postgres, locked, async (client, quotas) => {
      const counters = [...quotas, ...(await takeBackPrepaid(client, locked, others, this.#counterNo))];
      const { admitted, refusals } = admitInOrder(records, charges, usedByKey(counters));
      const admittedCharges = quotaCharges(admitted);
      const tightCharges = admittedCharges.filter(isTight);
      const prepayments = prepayAgain(tightCharges, counters);
      if (admitted.length > 0) {
        await prepay(client, prepayments, this.#counterNo);
        const counting = countingOf(admittedCharges, this.#counterNo);
        await this.#queue.appendWith(counting, admitted.map(recordOf), client);
      }
      return { tightCharges, prepayments, refusals };
    });
    this.#rememberPrepaid(decided.tightCharges, decided.prepayments);
    this.#rememberSpent(records, locked, decided.refusals);
    return decided.refusals;
  }

  /** Remembers the prepaid events, less the charges that are appended with them. */
  #rememberPrepaid(charges: readonly QuotaCharge[], prepayments: readonly Prepayment[]): void {
    const eventCounts = new Map(charges.map((charge) => [keyOf(charge), charge.eventCount]));
    for (const prepayment of prepayments) {
      const key = keyOf(prepayment);
      const eventCount = present(eventCounts.get(key), 'the charge of a prepayment');
      const { eventLimit, prepaid } = prepayment;
      this.#known.set(key, { eventLimit, prepaid: prepaid - eventCount, isSpent: false });
    }
  }

  /** Remembers the quotas that refused requests. Until they have room, each of their requests is decided separately. */
  #rememberSpent(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
    refusals: readonly QuotaRefusal[],
  ): void {
    const refused = new Set(refusals.map(({ index }) => records[index]?.record.scope.tenantId));
    for (const charge of charges) {
      if (!refused.has(charge.tenantId)) continue;
      this.#known.set(keyOf(charge), { eventLimit: charge.eventLimit, prepaid: 0, isSpent: true });
    }
  }
}

function keyOf({ tenantId, monthStartS }: Pick<QuotaCharge, 'tenantId' | 'monthStartS'>): string {
  return chargeKey(tenantId, monthStartS);
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
