import { encodeUsageEvent, type RowBinaryWriter, type UsageEventRow } from '../usage/index.js';
import type { FailedEvent } from './batch-store.js';
import type { AcceptedEvent } from './event.js';
import type { Intake } from './intake.js';
import type { BatchCounts } from './observer.js';
import { type DefectListener, defectRow, failedEventOf } from './rating.js';
import { BatchTotals, compareText } from './totals.js';

/** All that a batch will write. */
export interface BatchPlan {
  /** Holds the rows of `usage_events`, encoded. */
  readonly writer: RowBinaryWriter;
  readonly eventCount: number;
  readonly totals: BatchTotals;
  readonly failures: readonly FailedEvent[];
  readonly projectIds: readonly string[];
  readonly counts: BatchCounts;
}

interface PlanInput {
  readonly intake: Intake;
  /** All that was rated: the events of the intake and those rated anew. */
  readonly events: readonly AcceptedEvent[];
  /** Their rows, in the same order. */
  readonly rows: readonly UsageEventRow[];
  /** Those of the intake that an earlier batch has rated. */
  readonly duplicates: readonly AcceptedEvent[];
  /** Emptied first. */
  readonly writer: RowBinaryWriter;
  readonly onDefect: DefectListener;
}

/** Leaves the duplicates out, encodes the rest and adds it up. */
export function planBatch({ intake, events, rows, duplicates, writer, onDefect }: PlanInput): BatchPlan {
  const totals = new BatchTotals();
  const failures: FailedEvent[] = [];
  const dropped = new Set(duplicates);
  let [processed, failed, reprocessed] = [0, 0, 0];
  writer.clear();
  for (const [index, event] of events.entries()) {
    if (dropped.has(event)) continue;
    const rated = rows[index];
    if (rated === undefined) throw new Error(`event ${index} of the batch has no row`);
    const row = encodeOrFail(writer, event, rated, onDefect);
    const isAgain = event.attempt > 0;
    totals.addRow(row, isAgain);
    if (isAgain) reprocessed++;
    else if (row.status === 'failed') failed++;
    else processed++;
    if (row.status === 'failed') failures.push(failedEventOf(event, row));
  }
  const repeated = [...intake.repeated, ...duplicates];
  for (const { tenantId, projectId } of repeated) totals.addDuplicate(tenantId, projectId);
  const skipped = intake.repeatedReprocess + intake.reprocess.length - reprocessed;
  const counts = {
    claimed: intake.claimed,
    processed,
    failed,
    duplicate: repeated.length,
    reprocessed,
    skipped,
  };
  assertCounted(counts);
  return {
    writer,
    eventCount: processed + failed + reprocessed,
    totals,
    failures: failures.sort((a, b) => compareText(a.projectId, b.projectId) || compareText(a.idHex, b.idHex)),
    projectIds: totals.projectIds(),
    counts,
  };
}

/** Appends the row, or, where a column cannot hold a value of it, the event's failure; answers what was appended. */
function encodeOrFail(
  writer: RowBinaryWriter,
  event: AcceptedEvent,
  row: UsageEventRow,
  onDefect: DefectListener,
): UsageEventRow {
  const start = writer.length;
  try {
    encodeUsageEvent(writer, row);
    return row;
  } catch (error) {
    onDefect(error, event);
    writer.truncate(start);
    const failed = defectRow(row);
    encodeUsageEvent(writer, failed);
    return failed;
  }
}

/** A batch that loses or invents an event must not commit. */
function assertCounted({ claimed, processed, failed, duplicate, reprocessed, skipped }: BatchCounts): void {
  const counted = processed + failed + duplicate + reprocessed + skipped;
  if (counted !== claimed) throw new Error(`claimed ${claimed} events but counted ${counted}`);
}
