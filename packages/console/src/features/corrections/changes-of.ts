import type { Correction, CorrectionTotal } from '@tollgate/contract';

/** The content of a table of changes. */
export interface ShownChanges {
  readonly label: string;
  readonly totals: readonly CorrectionTotal[];
  /** The number of all totals, of which those are listed that differ most; absent where it is not known. */
  readonly totalsCount?: number;
}

/**
 * Returns the tables of what a correction changes. An applied one shows what was posted, which differs from its plan if
 * the totals of counters had changed. One that is applied in part shows both. Nothing is in force of a reverted one, so
 * its plan is shown.
 */
export function changesOf({
  status,
  totals,
  totals_count: totalsCount,
  applied,
  events_changed: changed,
}: Pick<Correction, 'status' | 'totals' | 'totals_count' | 'applied' | 'events_changed'>): ShownChanges[] {
  if (status === 'applied') {
    // Only that of the plan is counted; where both lists are cut off, it is the number of both.
    const isAlike = applied.totals.length === totals.length;
    return withRows([{ label: 'Changes', totals: applied.totals, ...(isAlike ? { totalsCount } : {}) }]);
  }
  const isPart = applied.events > 0 && applied.events < changed;
  const isOver = status === 'reverted' || status === 'reverting';
  return withRows([
    ...(isPart ? [{ label: 'Changes in force', totals: applied.totals }] : []),
    { label: isOver ? 'Changes' : 'Planned changes', totals, totalsCount },
  ]);
}

function withRows(changes: readonly ShownChanges[]): ShownChanges[] {
  return changes.filter(({ totals }) => totals.length > 0);
}
