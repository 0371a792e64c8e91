import { groupBy } from '../../kernel/maps.js';
import { present } from '../../kernel/present.js';
import { chargeKey, type QuotaCharge } from './admit.js';

/** Upper bound of the events that a counter prepays at once: about five seconds of a fast process. */
const CHUNK_EVENTS_MAX = 100_000;
/** A chunk is at most this part of the room that is left, divided by the number of counters. */
const CHUNK_DIVISOR = 2;
/** Prepaid by a counter without a limit: no tenant ever sends this many events in a month. */
const UNLIMITED_EVENTS = Number.MAX_SAFE_INTEGER;

/** One of the counts whose sum is the usage of a quota. */
export interface QuotaCounter {
  readonly tenantId: string;
  readonly monthStartS: number;
  /** Number of the counter; 0 for the row of the quota itself, which prepays nothing. */
  readonly counterNo: number;
  readonly used: number;
  /** Events that the counter may still count under `eventLimit`; other counters cannot use this room. */
  readonly prepaid: number;
  /** Null if there is no limit. */
  readonly eventLimit: number | null;
}

/** The events that a process's own counter of one quota may count from now on. */
export interface Prepayment {
  readonly tenantId: string;
  readonly monthStartS: number;
  readonly eventLimit: number | null;
  readonly prepaid: number;
}

/** The result of prepaying for some charges. */
export interface Chunks {
  /** The charges that fit, in their order. */
  readonly prepayments: Prepayment[];
  /** The others: too little is left that no counter has prepaid, or counters have prepaid under another limit. */
  readonly tight: QuotaCharge[];
}

/**
 * Adds chunks to a process's own counters, so that they have prepaid enough for the charges that fit. The sums
 * `used + prepaid` of all counters must be exact; the `used` of another process's counter may have grown meanwhile.
 */
export function addChunks(
  charges: readonly QuotaCharge[],
  counters: readonly QuotaCounter[],
  counterNo: number,
): Chunks {
  const byKey = groupByKey(counters);
  const chunks: Chunks = { prepayments: [], tight: [] };
  for (const charge of charges) {
    const { tenantId, monthStartS, eventLimit } = charge;
    const ofQuota = present(byKey.get(chargeKey(tenantId, monthStartS)), `the counters of ${tenantId}`);
    const prepaid = prepaidWithChunk(charge, ofQuota, counterNo);
    if (prepaid === undefined) chunks.tight.push(charge);
    else chunks.prepayments.push({ tenantId, monthStartS, eventLimit, prepaid });
  }
  return chunks;
}

function prepaidWithChunk(
  { tenantId, eventCount, eventLimit }: QuotaCharge,
  counters: readonly QuotaCounter[],
  counterNo: number,
): number | undefined {
  // Counters that prepaid under another limit could exceed this limit.
  if (counters.some((counter) => counter.prepaid > 0 && counter.eventLimit !== eventLimit)) return undefined;
  const own = present(
    counters.find((counter) => counter.counterNo === counterNo),
    `the own counter of ${tenantId}`,
  );
  if (own.prepaid >= eventCount) return own.prepaid;
  if (eventLimit === null) return UNLIMITED_EVENTS;
  const used = usedOf(counters);
  const free = counters.reduce((rest, { prepaid }) => rest - prepaid, eventLimit - used);
  const missing = eventCount - own.prepaid;
  if (missing > free) return undefined;
  return own.prepaid + Math.max(missing, Math.min(free, chunkOf(eventLimit - used, counters)));
}

/**
 * Returns what a process's own counters prepay after everything that was prepaid has been taken back: the admitted
 * charges, and a chunk beyond them.
 *
 * @param counters exact, of all quotas of the charges
 */
export function prepayAgain(
  admitted: readonly QuotaCharge[],
  counters: readonly QuotaCounter[],
): Prepayment[] {
  const byKey = groupByKey(counters);
  return admitted.map(({ tenantId, monthStartS, eventLimit, eventCount }) => {
    const ofQuota = present(byKey.get(chargeKey(tenantId, monthStartS)), `the counters of ${tenantId}`);
    const prepaid =
      eventLimit === null
        ? UNLIMITED_EVENTS
        : eventCount + chunkOf(eventLimit - usedOf(ofQuota) - eventCount, ofQuota);
    return { tenantId, monthStartS, eventLimit, prepaid };
  });
}

/** Returns the events used of each quota, by `chargeKey`. */
export function usedByKey(counters: readonly QuotaCounter[]): Map<string, number> {
  return new Map(Array.from(groupByKey(counters), ([key, ofQuota]) => [key, usedOf(ofQuota)]));
}

/** Chunks shrink with the room that is left, so that all processes can prepay until close to the end. */
function chunkOf(left: number, counters: readonly QuotaCounter[]): number {
  return Math.max(0, Math.min(CHUNK_EVENTS_MAX, Math.floor(left / (CHUNK_DIVISOR * counters.length))));
}

function usedOf(counters: readonly QuotaCounter[]): number {
  return counters.reduce((sum, { used }) => sum + used, 0);
}

function groupByKey(counters: readonly QuotaCounter[]): Map<string, QuotaCounter[]> {
  return groupBy(counters, ({ tenantId, monthStartS }) => chargeKey(tenantId, monthStartS));
}
