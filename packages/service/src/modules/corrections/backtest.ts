import type { BacktestResult } from '@tollgate/contract';
import { add, type Decimal, isZero, parseDecimal, sub, ZERO } from '../../kernel/decimal.js';
import { DomainError } from '../../kernel/errors.js';
import { present } from '../../kernel/present.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { InputTotal } from '../usage/index.js';
import type { StoredCorrection } from './correction.js';
import { leavesAmounts } from './counts-store.js';
import { plannedDeltas } from './part-store.js';
import { type AppliedBacktest, readAppliedBacktest } from './selection-store.js';

/** @throws DomainError `backtest_stale` if the backtest is not kept any more */
export async function backtestOf(db: ProjectDb, id: string): Promise<AppliedBacktest> {
  const found = await readAppliedBacktest(db, id);
  if (found === undefined) throw new DomainError('backtest_stale');
  return found;
}

/** Returns what a complete plan would do otherwise than its backtest; undefined if nothing, or without a backtest. */
export async function differenceFromBacktest(
  db: ProjectDb,
  { id, backtestId, eventsMatched }: Pick<StoredCorrection, 'id' | 'backtestId' | 'eventsMatched'>,
): Promise<string | undefined> {
  if (backtestId === null) return undefined;
  const { result } = await backtestOf(db, backtestId);
  if (eventsMatched !== result.event_count)
    return `The backtest rated ${result.event_count} events, and ${eventsMatched} match now.`;
  // Events that would fail keep their result, whose sums the backtest leaves out.
  if (result.newly_failed.length > 0) return undefined;
  const tested = result.totals.map(({ before, after, ...total }) => ({
    ...namesOf(total),
    sums: [
      sub(decimal(after.quantity), decimal(before.quantity)),
      sub(decimal(after.amount), decimal(before.amount)),
      // Backtests of earlier releases have no costs.
      sub(decimal(after.cost ?? '0'), decimal(before.cost ?? '0')),
    ],
  }));
  const planned = await plannedDeltas(db, id);
  const found = planned.map(({ quantity, amount, cost, ...names }) => ({
    ...names,
    sums: [quantity, amount, cost].map(decimal),
  }));
  const isByMetric = !(await leavesAmounts(db, id));
  const metric = differingMetric(tested, found, { isByMetric });
  return metric === undefined
    ? undefined
    : `${metric} would change by something else than the backtest shows.`;
}

/** Returns a metric for which something else is charged than what a backtest has compared with; undefined if none. */
export function changedCharge(
  { totals }: Pick<BacktestResult, 'totals'>,
  charged: readonly InputTotal[],
): string | undefined {
  const compared = totals.map(({ before: { quantity, amount }, ...total }) => ({
    ...namesOf(total),
    sums: [quantity, amount].map(decimal),
  }));
  const found = charged.map(({ quantity, amount, ...names }) => ({
    ...names,
    sums: [quantity, amount].map(decimal),
  }));
  return differingMetric(compared, found, { isByMetric: true });
}

/** Sums of charge items. The unit and the currency are empty for items without one. */
interface Sums extends Pick<InputTotal, 'metric' | 'unit' | 'currency'> {
  readonly sums: readonly Decimal[];
}

/**
 * Returns a metric whose sums differ; a sum that is on one side only is compared with 0.
 *
 * @param isByMetric whether the amounts of each metric are compared, or only those of each currency. A correction that
 *   leaves amounts on events can leave that of one metric on an item of another one in the same counter
 */
function differingMetric(
  expected: readonly Sums[],
  found: readonly Sums[],
  { isByMetric }: { readonly isByMetric: boolean },
): string | undefined {
  const isDifferent = ({ sums: [quantity, amount, cost] }: Sums) =>
    [quantity, cost, isByMetric ? amount : undefined].some((sum) => sum !== undefined && !isZero(sum));
  const byMetric = differences(expected, found, ({ metric, unit, currency }) => [metric, unit, currency]);
  const ofMetric = byMetric.find(isDifferent);
  if (ofMetric !== undefined || isByMetric) return ofMetric?.metric;
  const isAmountDifferent = ({ sums: [, amount] }: Sums) => amount !== undefined && !isZero(amount);
  return differences(expected, found, ({ currency }) => [currency]).find(isAmountDifferent)?.metric;
}

function differences(
  expected: readonly Sums[],
  found: readonly Sums[],
  groupOf: (names: Omit<Sums, 'sums'>) => readonly string[],
): Sums[] {
  const left = new Map<string, Sums>();
  const include = ({ sums, ...names }: Sums, combine: typeof add) => {
    const key = JSON.stringify(groupOf(names));
    const known = left.get(key)?.sums;
    left.set(key, { ...names, sums: sums.map((sum, index) => combine(known?.[index] ?? ZERO, sum)) });
  };
  for (const each of expected) include(each, add);
  for (const each of found) include(each, sub);
  return [...left.values()];
}

function namesOf({
  metric,
  unit,
  currency,
}: Pick<BacktestResult['totals'][number], 'metric' | 'unit' | 'currency'>) {
  return { metric, unit: unit ?? '', currency: currency ?? '' };
}

function decimal(text: string): Decimal {
  return present(parseDecimal(text), `a decimal in place of ${text}`);
}
