import { CORRECTION_EXAMPLES_MAX, type CorrectionExample } from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import { rawEventIdText } from '../../kernel/id.js';
import { addTo } from '../../kernel/present.js';
import { toUsageChargeItem, type UsageEventRow, type UsageItemRow } from '../usage/index.js';
import { idOf } from './correction.js';

/** Charge items of an example that are shown. */
const EXAMPLE_ITEMS_MAX = 20;

/** The sums of one metric, unit, currency and account that a correction changes. Decimals × 10^18. */
export interface ChangedTotal {
  readonly metric: string;
  readonly unit: string;
  /** Empty for items without a price. */
  readonly currency: string;
  /** Empty where no account is debited. */
  readonly accountId: string;
  quantityBefore: bigint;
  quantityAfter: bigint;
  amountBefore: bigint;
  amountAfter: bigint;
}

type Side = Pick<
  UsageEventRow,
  'status' | 'posting' | 'accountId' | 'items' | 'failureCode' | 'failureMessage' | 'failurePath'
>;

/** Sums what changed events had and will have, and keeps those that differ most. */
export class EventChanges {
  readonly #totals = new Map<string, ChangedTotal>();
  #largest: Candidate[] = [];

  /** Adds an event whose result is replaced. */
  add(event: Pick<UsageEventRow, 'rawEventId' | 'occurredAt'>, before: Side, after: Side): void {
    for (const item of before.items) {
      const total = this.#of(item, before);
      total.quantityBefore += item.quantity;
      total.amountBefore += item.amount;
    }
    for (const item of after.items) {
      const total = this.#of(item, after);
      total.quantityAfter += item.quantity;
      total.amountAfter += item.amount;
    }
    const deltas = deltasOf(before, after);
    this.#largest.push({ event, before, after, deltas, size: sizeOf(deltas) });
    if (this.#largest.length > 2 * CORRECTION_EXAMPLES_MAX) this.#largest = largest(this.#largest);
  }

  /** Sorted by key: all transactions write them in one order. */
  totals(): ChangedTotal[] {
    return [...this.#totals.values()].sort(
      (a, b) =>
        compareText(a.metric, b.metric) ||
        compareText(a.unit, b.unit) ||
        compareText(a.currency, b.currency) ||
        compareText(a.accountId, b.accountId),
    );
  }

  /** Returns the examples to show of these events and of those that earlier parts have kept. */
  examplesWith(earlier: readonly RankedExample[]): RankedExample[] {
    const known = earlier.map(({ size, example }) => ({ size: BigInt(size), shown: () => example }));
    const added = this.#largest.map((one) => ({ size: one.size, shown: () => exampleOf(one) }));
    return largest([...known, ...added]).map(({ size, shown }) => ({ size: String(size), example: shown() }));
  }

  #of({ metric, unit, currency }: UsageItemRow, { posting, accountId: routed }: Side): ChangedTotal {
    const accountId = posting === 'posted' && currency !== '' ? routed : '';
    const key = JSON.stringify([metric, unit, currency, accountId]);
    let total = this.#totals.get(key);
    if (total === undefined) {
      const none = { quantityBefore: 0n, quantityAfter: 0n, amountBefore: 0n, amountAfter: 0n };
      total = { metric, unit, currency, accountId, ...none };
      this.#totals.set(key, total);
    }
    return total;
  }
}

/** An example with its rank, as it is stored while a correction is planned. */
export interface RankedExample {
  /** The largest difference of its amounts × 10^18, without the sign. */
  readonly size: string;
  readonly example: CorrectionExample;
}

/** An event that may be an example. It is written out only if it is one. */
interface Candidate {
  readonly event: Pick<UsageEventRow, 'rawEventId' | 'occurredAt'>;
  readonly before: Side;
  readonly after: Side;
  /** The differences of its amounts × 10^18 that are not 0, by currency. */
  readonly deltas: readonly (readonly [currency: string, delta: bigint])[];
  /** The largest of them, without the sign. */
  readonly size: bigint;
}

/** Among events of equal size, those that were added first come first. */
function largest<Ranked extends { readonly size: bigint }>(candidates: readonly Ranked[]): Ranked[] {
  return [...candidates]
    .sort((a, b) => (a.size === b.size ? 0 : a.size < b.size ? 1 : -1))
    .slice(0, CORRECTION_EXAMPLES_MAX);
}

function deltasOf(before: Side, after: Side): Candidate['deltas'] {
  const deltas = new Map<string, bigint>();
  for (const { currency, amount } of before.items) if (currency !== '') addTo(deltas, currency, -amount);
  for (const { currency, amount } of after.items) if (currency !== '') addTo(deltas, currency, amount);
  return [...deltas].filter(([, delta]) => delta !== 0n);
}

function sizeOf(deltas: Candidate['deltas']): bigint {
  return deltas.map(([, delta]) => abs(delta)).reduce(larger, 0n);
}

function exampleOf({ event, before, after, deltas }: Candidate): CorrectionExample {
  return {
    raw_event_id: rawEventIdText(idOf(event)),
    occurred_at: event.occurredAt,
    amount_deltas: [...deltas]
      .sort(([a], [b]) => compareText(a, b))
      .map(([currency, delta]) => ({ currency, amount: toText(fromStored(delta)) })),
    before: shownSide(before),
    after: shownSide(after),
  };
}

function shownSide({ items, status, failureCode: code, failureMessage: message, failurePath: path }: Side) {
  return {
    charge_items: items.slice(0, EXAMPLE_ITEMS_MAX).map(toUsageChargeItem),
    charge_item_count: items.length,
    failure: status === 'failed' ? { code, message, path: path === '' ? null : path } : null,
  };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
