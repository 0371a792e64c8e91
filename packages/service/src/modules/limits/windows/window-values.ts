import { UNIQUE_VALUES_MAX } from '@tollgate/contract';
import { ONE_STORED } from '../../../kernel/decimal.js';
import { countOrNone, present, sumOrNone } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { storedQuantity, storedValue } from './counted-values.js';
import { type SubjectUsage, valueSums, type WindowSum } from './subject-usage.js';
import {
  dropLowestValues,
  type KnownValues,
  readGreatestValues,
  readKnownValues,
  type ValueChange,
  type ValueSet,
  writeOccurrences,
  writeValueSets,
} from './value-store.js';

/** Upper bound of the different quantities that a window of a `max` limit keeps: the greatest ones. */
export const WINDOW_QUANTITIES_MAX = 10_000;

/**
 * Counts the values of subjects, and sets what each of their windows gains by them: how many more values it has, or by
 * how much its greatest quantity rises. It may be negative, because corrections take values back. Runs no statement
 * where no rule counts values. The caller holds the posting lock.
 */
export async function countValues(tx: Tx, subjects: readonly SubjectUsage[]): Promise<void> {
  const sums = subjects.flatMap(valueSums);
  if (sums.length === 0) return;
  const before = await readKnownValues(tx, sums);
  const changes = sums.map((sum, index) => changeOf(sum, present(before[index], 'the values of a window')));
  await writeOccurrences(tx, changes);
  const maxima = changes.filter(({ sum }) => sum.rule.measure === 'max');
  const full = maxima.filter(({ set }) => set.kept > WINDOW_QUANTITIES_MAX);
  await dropLowestValues(tx, full, WINDOW_QUANTITIES_MAX);
  await writeValueSets(tx, changes);
  const greatest = await readGreatestValues(tx, maxima);
  for (const [index, { sum, set, occurrences }] of changes.entries()) {
    const known = present(before[index], 'the values of a window');
    sum.used =
      sum.rule.measure === 'unique'
        ? gainedValues(known.occurrences, occurrences)
        : usedMaximum(set, greatest.get(sum)) - usedMaximum(known.set, known.greatest);
  }
}

/**
 * Adds the counted values of a batch to those of the window. Values beyond the bound are only counted together: which
 * of them they are is not known any more.
 */
export function changeOf(sum: WindowSum, known: KnownValues): ValueChange {
  const occurrences = new Map<string, number>();
  const set = { ...known.set };
  for (const [value, added] of sum.values ?? []) {
    if (added === 0) continue;
    const stored = storedValue(value);
    const before = known.occurrences.get(stored);
    if (before === undefined && !isKept(sum, set, stored, added)) {
      set.missed = Math.max(set.missed + added, 0);
      continue;
    }
    const after = countOrNone(before) + added;
    occurrences.set(stored, after);
    if (before === undefined) set.kept++;
    if (after === 0) set.kept--;
  }
  if (set.missed === 0) set.missedUpTo = undefined;
  return { sum, occurrences, set };
}

/** Whether a value that the window does not have is added to it. */
function isKept({ rule }: WindowSum, set: ValueSet, stored: string, added: number): boolean {
  if (rule.measure === 'max') return set.missedUpTo === undefined || stored > set.missedUpTo;
  // A value that is taken back is one of those that were not kept, if there are any.
  return set.kept < UNIQUE_VALUES_MAX && (added > 0 || set.missed === 0);
}

/** Values that have occurred less often than they were taken back do not count. */
function gainedValues(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): bigint {
  let gained = 0;
  for (const [value, occurrences] of after) {
    gained += Number(occurrences > 0) - Number(countOrNone(before.get(value)) > 0);
  }
  return BigInt(gained) * ONE_STORED;
}

/**
 * Returns the greatest quantity × 10^18. Where no kept one is in force any more, it is the greatest of those that were
 * not kept, although that one may have been taken back: usage is never shown as less than it is.
 */
function usedMaximum({ missedUpTo }: ValueSet, greatest: string | undefined): bigint {
  const digits = greatest ?? missedUpTo;
  return sumOrNone(digits === undefined ? undefined : storedQuantity(digits));
}
