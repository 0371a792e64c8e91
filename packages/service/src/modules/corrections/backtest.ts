import type { BacktestResult } from '@tollgate/contract';
import { add, type Decimal, isZero, parseDecimal, sub, ZERO } from '../../kernel/decimal.js';
import { DomainError } from '../../kernel/errors.js';
import { present } from '../../kernel/present.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { InputTotal } from '../usage/index.js';
import type { StoredCorrection } from './correction.js';
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
    quantity: sub(decimal(after.quantity), decimal(before.quantity)),
    amount: sub(decimal(after.amount), decimal(before.amount)),
  }));
  const metric = differingMetric(tested, (await plannedDeltas(db, id)).map(sumOf));
  return metric === undefined
    ? undefined
    : `${metric} would change by something else than the backtest shows.`;
}

/** Returns a metric for which something else is charged than what a backtest has compared with; undefined if none. */
export function changedCharge(
  { totals }: Pick<BacktestResult, 'totals'>,
  charged: readonly InputTotal[],
): string | undefined {
  const compared = totals.map(({ before: { quantity, amount }, ...total }) =>
    sumOf({ ...namesOf(total), quantity, amount }),
  );
  return differingMetric(compared, charged.map(sumOf));
}

/** A sum of charge items. The unit and the currency are empty for items without one. */
interface Sum extends Pick<InputTotal, 'metric' | 'unit' | 'currency'> {
  readonly quantity: Decimal;
  readonly amount: Decimal;
}

/** Returns a metric whose sums differ; a sum that is on one side only is compared with 0. */
function differingMetric(expected: readonly Sum[], found: readonly Sum[]): string | undefined {
  const left = new Map<string, Sum>();
  const include = (sum: Sum, combine: typeof add) => {
    const key = JSON.stringify([sum.metric, sum.unit, sum.currency]);
    const { quantity, amount } = left.get(key) ?? { quantity: ZERO, amount: ZERO };
    left.set(key, {
      ...sum,
      quantity: combine(quantity, sum.quantity),
      amount: combine(amount, sum.amount),
    });
  };
  for (const sum of expected) include(sum, add);
  for (const sum of found) include(sum, sub);
  return [...left.values()].find(({ quantity, amount }) => !isZero(quantity) || !isZero(amount))?.metric;
}

function namesOf({
  metric,
  unit,
  currency,
}: Pick<BacktestResult['totals'][number], 'metric' | 'unit' | 'currency'>) {
  return { metric, unit: unit ?? '', currency: currency ?? '' };
}

function sumOf({ quantity, amount, ...names }: InputTotal): Sum {
  return { ...names, quantity: decimal(quantity), amount: decimal(amount) };
}

function decimal(text: string): Decimal {
  return present(parseDecimal(text), `a decimal in place of ${text}`);
}
