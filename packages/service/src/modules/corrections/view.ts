import {
  CORRECTION_TOTALS_MAX,
  type Correction,
  type CorrectionSummary,
  type CorrectionTotal,
} from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { fromStored, toText } from '../../kernel/decimal.js';
import { rawEventIdText } from '../../kernel/id.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { ChangedTotal } from './changes.js';
import type { StoredCorrection } from './correction.js';
import { type ListedCorrection, readExamples } from './correction-store.js';
import { readTotals } from './part-store.js';

export function shownSummary(row: ListedCorrection): CorrectionSummary {
  const done = {
    planning: row.eventsMatched,
    reverting: row.eventsChanged - row.eventsApplied,
  };
  const isPlanning = row.status === 'planning';
  return {
    id: row.id,
    action: row.action,
    status: row.status,
    filter: row.request.filter,
    raw_event_id: row.eventId === null ? null : rawEventIdText(row.eventId),
    rules: row.request.rules,
    backtest_id: row.backtestId,
    reason: row.reason,
    events_matched: row.eventsMatched,
    events_changed: row.eventsChanged,
    events_failed: Object.entries(row.eventsFailed)
      .map(([code, count]) => ({ code, count }))
      .sort((a, b) => b.count - a.count || compareText(a.code, b.code)),
    progress: {
      events_done:
        row.status === 'planning' || row.status === 'reverting' ? done[row.status] : row.eventsApplied,
      events_total: isPlanning ? row.eventsTotal : row.eventsChanged,
    },
    failure: row.failureCode === null ? null : { code: row.failureCode, message: row.failureMessage ?? '' },
    created_by: row.createdBy,
    applied_by: row.plannedAtMs === null ? null : row.appliedBy,
    reverted_by: row.revertedBy,
    created_at: seconds(row.createdAtMs),
    planned_at: secondsOrNull(row.plannedAtMs),
    applied_at: secondsOrNull(row.appliedAtMs),
    reverted_at: secondsOrNull(row.revertedAtMs),
  };
}

/** Returns a correction with its totals and examples, as of one moment of `db`. */
export async function shownCorrection(db: ProjectDb, row: StoredCorrection): Promise<Correction> {
  const planned = await readTotals(db, row.id, 'planned', CORRECTION_TOTALS_MAX);
  const applied = await readTotals(db, row.id, 'applied', CORRECTION_TOTALS_MAX);
  return {
    ...shownSummary(row),
    totals: shownTotals(planned.totals),
    totals_count: planned.count,
    examples: (await readExamples(db, row.id)).map(({ example }) => example),
    applied: { events: row.eventsApplied, totals: shownTotals(applied.totals) },
  };
}

export function shownTotals(totals: readonly ChangedTotal[]): CorrectionTotal[] {
  return totals.map(({ metric, unit, currency, accountId, ...sums }) => ({
    metric,
    unit: unit === '' ? null : unit,
    currency: currency === '' ? null : currency,
    account_id: accountId === '' ? null : accountId,
    quantity: shownChange(sums.quantityBefore, sums.quantityAfter),
    amount: shownChange(sums.amountBefore, sums.amountAfter),
    cost: shownChange(sums.costBefore, sums.costAfter),
  }));
}

function shownChange(before: bigint, after: bigint) {
  return { before: text(before), after: text(after), delta: text(after - before) };
}

const text = (stored: bigint) => toText(fromStored(stored));
const seconds = (ms: number) => Math.floor(ms / 1_000);
const secondsOrNull = (ms: number | null) => (ms === null ? null : seconds(ms));
