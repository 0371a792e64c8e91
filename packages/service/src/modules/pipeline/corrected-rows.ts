import type { ProjectRef } from '../../kernel/scope.js';
import { slotOf } from '../../kernel/shard.js';
import { totalBytes } from '../../platform/buffers.js';
import type { Tx } from '../../platform/postgres/index.js';
import { BatchPosting, type PostingCatalog, PostingPlan, type RatedUsage } from '../limits/index.js';
import { isPostedByRemainder, reversalRow, type UsageBlock, type UsageEventRow } from '../usage/index.js';
import { UsageAlerts } from './alerts.js';
import { addTotals, holdSpool, insertUsageBatch } from './batch-store.js';
import type { RollupDimensions } from './rollup-dimensions.js';
import type { Spool } from './spool.js';
import { BatchTotals, PostedTotals } from './totals.js';

/** An event whose revision in force is replaced by another one. */
export interface CorrectedEvent {
  /** The row of the revision in force. */
  readonly former: UsageEventRow;
  /** The content of the next revision. Its number, times and ledger transactions are set when it is written. */
  readonly next: UsageEventRow;
}

export interface CorrectedRowsDeps {
  readonly limits: PostingCatalog;
  readonly spool: Spool;
  readonly rollup: Pick<RollupDimensions, 'prepare' | 'excludedDimensionsOf'>;
  /** Memory for the rows, used by one correction after the other. */
  readonly block: UsageBlock;
}

export interface CorrectionOfRows {
  readonly project: ProjectRef;
  readonly correctionId: string;
  /** Whether the former revisions are restored: nobody is notified of failed and unpriced usage once more. */
  readonly isRevert: boolean;
  /** When the correction is applied or reverted, in Unix milliseconds. */
  readonly nowMs: number;
}

/** A row whose ledger transactions are known only once it is posted. */
interface RowToWrite extends UsageEventRow {
  itemTransactionIds: readonly string[];
}

const NO_TRANSACTIONS: readonly string[] = [];

/**
 * Writes everything that follows from the correction of some events of one project, inside its transaction: a reversal
 * row and a row of the next revision for each event, and the differences of windows, wallets and totals. The former
 * amounts return to the account that was debited; the next ones are debited from the account that the row names. Usage
 * is taken back from the levels at which it counted; it counts there again, unless the subject is another one or had no
 * route. Then the levels of now count.
 *
 * @throws RangeError if ClickHouse cannot store a row; Error if a sum is wrong: then nothing may be committed
 */
export async function writeCorrectedRows(
  tx: Tx,
  { limits, spool, rollup, block }: CorrectedRowsDeps,
  { project, correctionId, isRevert, nowMs }: CorrectionOfRows,
  events: readonly CorrectedEvent[],
): Promise<void> {
  const posting = new BatchPosting(tx, limits, nowMs);
  await rollup.prepare([project]);
  const usage = events.flatMap(({ former, next }) => [usageOf(former, isRevert), usageOf(next, isRevert)]);
  await posting.prepare([{ scope: project, events: usage }]);
  const plan = new PostingPlan();
  const totals = new BatchTotals();
  const posted = new PostedTotals();
  const alerts = new UsageAlerts();
  block.clear();
  const add = (row: RowToWrite, event: RatedUsage) => {
    const ofRow = posting.ofCorrection(project, event, row.posting === 'posted' ? row.accountId : '');
    plan.add(event, ofRow);
    row.itemTransactionIds = ofRow.itemTransactionIds;
    block.add(row);
    totals.addRow(row, false);
    posted.addRow(row);
  };
  const written = { correctionId, processedAtMs: nowMs, itemTransactionIds: NO_TRANSACTIONS };
  for (const { former, next } of events) {
    const reversal = reversalRow(former, written);
    add(reversal, usageOf(reversal, isRevert));
    const put = usageOf(next, isRevert);
    const isAlike = isRevert || isRoutedAlike(former, next);
    const parents = isAlike ? next.parents : posting.parentsOf(project, put);
    const revision: UsageEventRow = {
      ...next,
      correctionId,
      processedAtMs: nowMs,
      parents,
      isReversal: false,
      attempt: former.attempt,
      corrections: former.corrections + 1,
      itemTransactionIds: NO_TRANSACTIONS,
      excludedDimensions:
        next.items.length === 0 ? [] : rollup.excludedDimensionsOf(project.projectId, next.dimensions),
    };
    add(revision, isAlike ? put : { ...put, parents });
    if (!isRevert) alerts.addRow(revision);
  }
  posted.assertEqual(plan.debits());
  await storeRows(tx, spool, { project, nowMs, block, totals });
  await posting.writeCorrection(plan, correctionId);
  await alerts.write(tx, nowMs);
  await addTotals(tx, totals.usageTotals(), totals.eventTotals(), totals.ingestTotals());
}

async function storeRows(
  tx: Tx,
  spool: Spool,
  {
    project,
    nowMs,
    block,
    totals,
  }: Pick<CorrectionOfRows, 'project' | 'nowMs'> & {
    readonly block: UsageBlock;
    readonly totals: BatchTotals;
  },
): Promise<void> {
  await holdSpool(tx);
  const rows = block.bytes();
  const [location] = await spool.put([rows]);
  if (location === undefined) throw new Error('the spool has no place for the rows of a correction');
  await insertUsageBatch(tx, {
    shard: slotOf(project.projectNo),
    createdAtMs: nowMs,
    oldestReceivedAtMs: nowMs,
    dedicatedTo: project.storage === 'dedicated' ? project.projectNo : null,
    eventCount: block.eventCount,
    itemCount: block.itemCount,
    projects: totals.projects(),
    byteCount: totalBytes(rows),
    location,
    isCorrection: true,
  });
}

function usageOf(row: UsageEventRow, isRestored: boolean): RatedUsage {
  const { occurredAt, subjectType, subjectId, parents, dimensions, items, isReversal } = row;
  const subject = subjectId === '' ? undefined : { type: subjectType, id: subjectId };
  // A correction changes no lease.
  return { occurredAt, subject, parents, dimensions, items, isReversal, isRestored, budgetLeaseId: '' };
}

/**
 * Whether the next revision counts at the same levels: the former one had a route, and the same subject. An account
 * that only pays what a correction has left is no sign of a route; levels are.
 */
function isRoutedAlike(former: UsageEventRow, next: UsageEventRow): boolean {
  const wasRouted = former.accountId !== '' && (former.parents.length > 0 || !isPostedByRemainder(former));
  return wasRouted && former.subjectType === next.subjectType && former.subjectId === next.subjectId;
}
