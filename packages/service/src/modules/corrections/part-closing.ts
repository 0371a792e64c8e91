import type { CounterPeriod } from '../counters/index.js';
import { RatingFailure } from '../rules/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { ChangedEventError, counterMoved } from './changed-event.js';
import { type CountRun, pagesOf, runCounts, sidesOf } from './count-run.js';
import type { StoredPeriod } from './counted-periods-store.js';
import { type RowToCount, withRemainder } from './counted-row.js';
import { sumOfCounts } from './counts-store.js';

/** A period that a part changes. */
export interface PartPeriod extends Pick<StoredPeriod, 'isMoved' | 'priceChange' | 'closingAmount'> {
  readonly stored: StoredPeriod;
  readonly name: string;
  readonly period: CounterPeriod;
  isMoved: boolean;
  priceChange: bigint | undefined;
  closingAmount: bigint;
  /** The amount that the period must have after the part; undefined if it follows from the planned amounts. */
  target: bigint | undefined;
}

/** An event of a part, with its next row. */
export interface PartEvent extends RowToCount {
  next: UsageEventRow;
}

/** The events of a part that change a period. */
export interface PartOfPeriod {
  /** The last one that can have an amount of the period. */
  readonly last: PartEvent | undefined;
  /** Whether one fails again: it cannot have an amount, because its next attempt would replace it. */
  readonly hasFailed: boolean;
}

/** Moves a period by a part, and adds up by how much the parts change the price of its total. */
export async function withPriceChange(
  run: CountRun,
  partNo: number,
  each: PartPeriod,
  move: () => void,
): Promise<void> {
  const { stored, period } = each;
  const before = await priceNow(run, stored, period);
  move();
  const after = await priceNow(run, stored, period);
  const soFar = stored.firstPart === partNo ? 0n : each.priceChange;
  const isKnown = before !== undefined && after !== undefined && soFar !== undefined;
  each.priceChange = isKnown ? soFar + after - before : undefined;
}

/** Returns the price of the total of a period that several parts change; undefined if it has none. */
async function priceNow(
  { prices }: CountRun,
  { rule, counter }: StoredPeriod,
  { itemCount, quantity }: CounterPeriod,
): Promise<bigint | undefined> {
  if (rule === null) return undefined;
  if (itemCount === 0) return 0n;
  const price = (await prices.of(rule)).at(quantity, counter.by);
  return price instanceof RatingFailure ? undefined : price;
}

/**
 * Adds to the last event of a period what the period still lacks.
 *
 * @throws ChangedEventError if all of its events fail again
 */
export async function closePeriod(
  run: CountRun,
  partNo: number,
  each: PartPeriod,
  { last, hasFailed }: PartOfPeriod,
): Promise<void> {
  const { stored, period, name } = each;
  if (stored.lastPart === partNo && stored.firstPart !== partNo) {
    if (each.isMoved) each.target = await targetOf(run, each);
    each.priceChange = 0n;
  }
  if (each.target === undefined || each.target === period.amount) return;
  const amount = each.target - period.amount;
  if (last === undefined) {
    if (hasFailed) throw noEventLeft(period.counter.definition.name);
    return;
  }
  last.next = withRemainder(last, last.next, name, amount);
  period.addAmount(amount);
  each.closingAmount = amount;
}

export function noEventLeft(counter: string): ChangedEventError {
  const problem = `The counter ${counter} has changed, and an event that fails again cannot have a part of its amount.`;
  return new ChangedEventError('correction_stale', problem, 'Void the event instead.');
}

/**
 * Returns the amount that a period would have if all parts had been counted now: usage between them would cost what it
 * costs without them, and then the items of all parts would be counted.
 */
async function targetOf(run: CountRun, each: PartPeriod): Promise<bigint> {
  const { stored, period } = each;
  const { db, correctionId, verb } = run;
  const { taken, put } = sidesOf(verb);
  const copy = period.copy();
  for await (const page of pagesOf(run, stored, put)) for (const count of page) copy.remove(count);
  for await (const page of pagesOf(run, stored, taken)) for (const count of page) copy.count(count);
  const applied = (await sumOfCounts(db, correctionId, stored, { isKept: false })) + stored.closingAmount;
  copy.addAmount(verb === 'apply' ? -applied : applied);
  const missing = await missingOfUsage(run, each, copy);
  copy.addAmount(missing ?? 0n);
  // To give back exactly what the parts have charged would leave such usage as it is: a revert counts again, too.
  each.isMoved = missing !== 0n;
  const failure = await runCounts(run, stored, copy, () => {});
  if (failure !== undefined) throw counterMoved(`${failure.message} Its counter was changed after the plan.`);
  return copy.amount;
}

/**
 * Returns what usage between the parts would cost more without them. Each item of it was charged by how much it has
 * changed the price of the total; all other changes of that price are those of the parts.
 *
 * @param without the period without the parts
 */
async function missingOfUsage(
  run: CountRun,
  { stored, period, priceChange }: PartPeriod,
  without: CounterPeriod,
): Promise<bigint | undefined> {
  const price = await priceNow(run, stored, without);
  const now = await priceNow(run, stored, period);
  if (price === undefined || now === undefined || priceChange === undefined) return undefined;
  return price - now + priceChange;
}
