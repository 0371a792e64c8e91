import type { BacktestResult } from '@tollgate/contract';
import { equals, isZero, parseDecimal, sub } from '../../kernel/decimal.js';
import { DomainError } from '../../kernel/errors.js';
import { present } from '../../kernel/present.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { StoredCorrection } from './correction.js';
import { plannedDeltas } from './part-store.js';
import { type AppliedBacktest, readAppliedBacktest } from './selection-store.js';

/** @throws DomainError `backtest_stale` if the backtest is not kept any more */
export async function backtestOf(db: ProjectDb, id: string): Promise<AppliedBacktest> {
  const found = await readAppliedBacktest(db, id);
  if (found === undefined) throw new DomainError('backtest_stale');
  return found;
}

/** Whether a complete plan changes something else than its backtest has said. */
export async function differsFromBacktest(
  db: ProjectDb,
  { id, backtestId, eventsMatched }: Pick<StoredCorrection, 'id' | 'backtestId' | 'eventsMatched'>,
): Promise<boolean> {
  if (backtestId === null) return false;
  const { result } = await backtestOf(db, backtestId);
  if (eventsMatched !== result.event_count) return true;
  // Events that would fail keep their result, whose sums the backtest leaves out.
  if (result.newly_failed.length > 0) return false;
  const planned = await plannedDeltas(db, id);
  const tested = deltasOf(result);
  const isAsTested = planned.every(({ metric, unit, currency, quantity, amount }) => {
    const key = JSON.stringify([metric, unit, currency]);
    const found = tested.get(key);
    tested.delete(key);
    return (
      equals(decimal(quantity), found?.quantity ?? decimal('0')) &&
      equals(decimal(amount), found?.amount ?? decimal('0'))
    );
  });
  const areOthersZero = [...tested.values()].every(
    ({ quantity, amount }) => isZero(quantity) && isZero(amount),
  );
  return !(isAsTested && areOthersZero);
}

function deltasOf({ totals }: BacktestResult) {
  return new Map(
    totals.map(({ metric, unit, currency, before, after }) => [
      JSON.stringify([metric, unit ?? '', currency ?? '']),
      {
        quantity: sub(decimal(after.quantity), decimal(before.quantity)),
        amount: sub(decimal(after.amount), decimal(before.amount)),
      },
    ]),
  );
}

function decimal(text: string) {
  return present(parseDecimal(text), `a decimal in place of ${text}`);
}
