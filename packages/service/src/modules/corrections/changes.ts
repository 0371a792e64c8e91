import { CORRECTION_EXAMPLES_MAX, type CorrectionExample } from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import { rawEventIdText } from '../../kernel/id.js';
import { memoized } from '../../kernel/maps.js';
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
  /** Costs in the same currency, whatever the currencies of the prices are. */
  costBefore: bigint;
  costAfter: bigint;
}

type Side = Pick<
  UsageEventRow,
  'status' | 'posting' | 'accountId' | 'items' | 'failureCode' | 'failureMessage' | 'failurePath'
>;

/** The fields of a total to which a side is added. */
const BEFORE = { quantity: 'quantityBefore', amount: 'amountBefore', cost: 'costBefore' } as const;
const AFTER = { quantity: 'quantityAfter', amount: 'amountAfter', cost: 'costAfter' } as const;

type ItemNames = Pick<UsageItemRow, 'metric' | 'unit' | 'currency'>;

/** Sums what changed events had and will have. */
export class ChangedTotals {
  /** By metric and account. Few of a list differ in unit or currency. */
  readonly #totals = new Map<string, ChangedTotal[]>();

  /** Adds an event whose result is replaced. */
  add(before: Side, after: Side): void {
    this.#addSide(before, BEFORE);
    this.#addSide(after, AFTER);
  }

  #addSide(side: Side, fields: typeof BEFORE | typeof AFTER): void {
    for (const item of side.items) {
      const { quantity, amount, cost } = item;
      const total = this.#of(item, side);
      total[fields.quantity] += quantity;
      total[fields.amount] += amount;
      if (cost !== null) this.#of({ ...item, currency: cost.currency }, side)[fields.cost] += cost.amount;
    }
  }

  /** Sorted by key: all transactions write them in one order. */
  totals(): ChangedTotal[] {
    return [...this.#totals.values()]
      .flat()
      .sort(
        (a, b) =>
          compareText(a.metric, b.metric) ||
          compareText(a.unit, b.unit) ||
          compareText(a.currency, b.currency) ||
          compareText(a.accountId, b.accountId),
      );
  }

  #of({ metric, unit, currency }: ItemNames, { posting, accountId: routed }: Side): ChangedTotal {
    const accountId = posting === 'posted' && currency !== '' ? routed : '';
    const similar = memoized(this.#totals, `${metric} ${accountId}`, () => []);
    const isSame = (total: ChangedTotal) =>
      total.metric === metric &&
      total.accountId === accountId &&
      total.currency === currency &&
      total.unit === unit;
    const known = similar.find(isSame);
    if (known !== undefined) return known;
    const total: ChangedTotal = {
      ...{ metric, unit, currency, accountId },
      ...{ quantityBefore: 0n, quantityAfter: 0n, amountBefore: 0n, amountAfter: 0n },
      ...{ costBefore: 0n, costAfter: 0n },
    };
    similar.push(total);
    return total;
  }
}

/** Finds the changed events that differ most. */
export class ChangedExamples {
  /** The largest until now, in their order. */
  readonly #largest: (Rank & { readonly changed: ChangedEvent })[] = [];

  /** Adds an event whose result is replaced. */
  add(event: ChangedEvent['event'], before: Side, after: Side): void {
    const changed = { event, before, after };
    const added = { size: largestDelta(changed, chargeOf), costSize: largestDelta(changed, costOf), changed };
    const last = this.#largest.at(-1);
    if (last !== undefined && this.#largest.length === CORRECTION_EXAMPLES_MAX && byRank(added, last) >= 0)
      return;
    const place = this.#largest.findIndex((known) => byRank(added, known) < 0);
    this.#largest.splice(place < 0 ? this.#largest.length : place, 0, added);
    if (this.#largest.length > CORRECTION_EXAMPLES_MAX) this.#largest.pop();
  }

  /** Returns the examples to show of these events and of those that earlier parts have kept. */
  with(earlier: readonly RankedExample[]): RankedExample[] {
    const known = earlier.map(({ size, costSize = '0', example }) => ({
      ...{ size: BigInt(size), costSize: BigInt(costSize) },
      shown: () => example,
    }));
    const added = this.#largest.map(({ changed, ...rank }) => ({ ...rank, shown: () => exampleOf(changed) }));
    return [...known, ...added]
      .sort(byRank)
      .slice(0, CORRECTION_EXAMPLES_MAX)
      .map(({ size, costSize, shown }) => ({
        ...{ size: String(size), costSize: String(costSize) },
        example: shown(),
      }));
  }
}

/** An example with its rank, as it is stored while a correction is planned. */
export interface RankedExample {
  /** The largest difference of its amounts × 10^18, without the sign. */
  readonly size: string;
  /** The same of its costs. Absent in plans of the release that did not rank by them. */
  readonly costSize?: string;
  readonly example: CorrectionExample;
}

interface ChangedEvent {
  readonly event: Pick<UsageEventRow, 'rawEventId' | 'occurredAt'>;
  readonly before: Side;
  readonly after: Side;
}

interface Rank {
  readonly size: bigint;
  readonly costSize: bigint;
}

/** Costs decide where amounts differ equally. Among equals, those that were added first come first. */
function byRank(a: Rank, b: Rank): number {
  return descending(a.size, b.size) || descending(a.costSize, b.costSize);
}

type Delta = readonly [currency: string, delta: bigint];

type MoneyOf = (item: UsageItemRow) => { readonly currency: string; readonly amount: bigint } | null;

const chargeOf: MoneyOf = (item) => (item.currency === '' ? null : item);
const costOf: MoneyOf = ({ cost }) => cost;

/** Returns the differences of an event's charges or costs × 10^18 that are not 0, by currency. */
function deltasOf({ before, after }: ChangedEvent, moneyOf: MoneyOf): Delta[] {
  const deltas = new Map<string, bigint>();
  const add = (money: ReturnType<MoneyOf>, sign: bigint) => {
    if (money !== null) addTo(deltas, money.currency, sign * money.amount);
  };
  for (const item of before.items) add(moneyOf(item), -1n);
  for (const item of after.items) add(moneyOf(item), 1n);
  return [...deltas].filter(([, delta]) => delta !== 0n);
}

/** Returns the largest difference, without the sign. Nearly all events have one currency. */
function largestDelta(changed: ChangedEvent, moneyOf: MoneyOf): bigint {
  let currency: string | undefined;
  let delta = 0n;
  for (const side of [changed.before, changed.after]) {
    for (const item of side.items) {
      const money = moneyOf(item);
      if (money === null) continue;
      currency ??= money.currency;
      if (money.currency !== currency)
        return deltasOf(changed, moneyOf)
          .map(([, each]) => abs(each))
          .reduce(larger, 0n);
      delta += side === changed.before ? -money.amount : money.amount;
    }
  }
  return abs(delta);
}

function exampleOf(changed: ChangedEvent): CorrectionExample {
  const { event, before, after } = changed;
  return {
    raw_event_id: rawEventIdText(idOf(event)),
    occurred_at: event.occurredAt,
    amount_deltas: deltasOf(changed, chargeOf)
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

function descending(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? 1 : -1;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
