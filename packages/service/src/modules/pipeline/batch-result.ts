import { type EventPosting, NOT_POSTED, PostingPlan } from '../limits/index.js';
import type { ArrivedEvents } from '../quotas/index.js';
import type { UsageBlock, UsageEventRow } from '../usage/index.js';
import { UsageAlerts } from './alerts.js';
import type { BatchGroup, BatchInput } from './batch-input.js';
import type { BatchSection, FailedEvent } from './batch-store.js';
import { DeferredEvents } from './defer.js';
import { addOrFail, BatchSections, failedEventOf, rowOf } from './encoding.js';
import type { AcceptedEvent, EventGroup } from './event.js';
import type { BatchCounts } from './observer.js';
import type { BatchEvent, DefectListener } from './rating.js';
import type { RollupDimensions } from './rollup-dimensions.js';
import { BatchTotals, PostedTotals } from './totals.js';

/** Everything that a batch writes. */
export interface BatchResult {
  /** The encoded rows of `usage_events`; none when there are no rows. */
  readonly sections: readonly BatchSection[];
  readonly posting: PostingPlan;
  readonly totals: BatchTotals;
  readonly alerts: UsageAlerts;
  /** Failed events to store: new ones, and those that stay as they were. */
  readonly failures: readonly FailedEvent[];
  /** Events removed from the queue. */
  readonly taken: readonly ArrivedEvents[];
  readonly deferred: DeferredEvents;
  readonly counts: BatchCounts;
}

/**
 * Upper bound of the windows of one tenant in a batch, each with the alerts that it can send. Events beyond it are
 * deferred: a subject can have hundreds of windows, and each of them eleven alerts, so few events could keep a
 * transaction busy for minutes, and fill the memory.
 */
const TENANT_ALERTS_MAX = 100_000;

export interface BatchResultOptions {
  /** Encodes the rows for the shared tables; empty at first. */
  readonly block: UsageBlock;
  readonly rollup: Pick<RollupDimensions, 'excludedDimensionsOf'>;
  readonly processedAtMs: number;
  readonly onDefect: DefectListener;
  /** Default `TENANT_ALERTS_MAX`. */
  readonly alertsMax?: number | undefined;
}

/** Collects the result of a batch, event by event, and checks it when it is complete. */
export class BatchResultBuilder {
  readonly #options: BatchResultOptions;
  readonly #deferred = new DeferredEvents();
  readonly #posting = new PostingPlan();
  readonly #totals = new BatchTotals();
  readonly #alerts = new UsageAlerts();
  readonly #posted = new PostedTotals();
  readonly #sections: BatchSections;
  readonly #failures: FailedEvent[] = [];
  #duplicates = 0;
  #processed = 0;
  #failed = 0;
  #reprocessed = 0;

  constructor(options: BatchResultOptions) {
    this.#options = options;
    this.#sections = new BatchSections(options.block);
  }

  /** Whether the batch may post nothing more of a tenant, because of the windows and alerts of its events so far. */
  isFull(tenantId: string): boolean {
    return this.#posting.alertsOf(tenantId) >= (this.#options.alertsMax ?? TENANT_ALERTS_MAX);
  }

  /** Counts events that were rated before. */
  addDuplicates({ tenantId, projectId }: EventGroup, count: number): void {
    if (count === 0) return;
    this.#totals.addDuplicates(tenantId, projectId, count);
    this.#duplicates += count;
  }

  /** Defers a whole group as it arrived; `newEvents` are those of its events that were not rated before. */
  deferGroup(group: BatchGroup, newEvents: readonly AcceptedEvent[]): void {
    if ('failed' in group) this.#deferred.addFailed(group);
    else this.#deferred.addWhole(group, newEvents);
  }

  /** Defers some events of a group, which the batch has not counted yet. */
  deferEvents(group: BatchGroup, events: readonly AcceptedEvent[]): void {
    if (events.length === 0) return;
    if ('failed' in group) this.#deferred.addFailed(group);
    else this.#deferred.addEvents(group, events);
  }

  /**
   * Encodes the row of an event and adds the event to the posting plan. An event whose row cannot be encoded becomes a
   * failed event and posts nothing.
   *
   * @param posting undefined for an event that failed
   * @returns the row
   */
  addEvent(
    group: EventGroup,
    event: AcceptedEvent,
    rated: BatchEvent,
    posting: EventPosting | undefined,
  ): UsageEventRow {
    const { rollup, processedAtMs, onDefect } = this.#options;
    const excludedDimensions =
      rated.items.length === 0 ? [] : rollup.excludedDimensionsOf(group.projectId, rated.dimensions);
    const row = addOrFail(
      this.#sections.blockOf(group),
      event,
      rowOf(group, event, rated, posting ?? NOT_POSTED, excludedDimensions, processedAtMs),
      onDefect,
    );
    if (posting !== undefined && row.status === 'processed') this.#posting.add(rated, posting);
    const isAgain = group.attempt > 0;
    this.#totals.addRow(row, isAgain);
    this.#alerts.addRow(row);
    this.#posted.addRow(row);
    if (isAgain) this.#reprocessed++;
    else if (row.status === 'failed') this.#failed++;
    else this.#processed++;
    if (row.status === 'failed') this.#failures.push(failedEventOf(group, event, row));
    return row;
  }

  /**
   * @throws Error when an event is missing or counted twice, or a debit is not the sum of the charge items that name it
   */
  result(batchInput: BatchInput): BatchResult {
    const deferred = this.#deferred;
    for (const group of batchInput.repeated) if (!deferred.isWhole(group)) this.addDuplicates(group, 1);
    const reprocessed = this.#reprocessed;
    const counts = {
      claimed: batchInput.claimed,
      processed: this.#processed,
      failed: this.#failed,
      duplicate: this.#duplicates,
      reprocessed,
      skipped:
        batchInput.repeatedReprocess + batchInput.reprocess.length - reprocessed - deferred.failures.length,
      deferred: deferred.count,
    };
    assertCounted(counts);
    this.#posted.assertEqual(this.#posting.debits());
    return {
      sections: this.#sections.all(this.#totals.projects()),
      posting: this.#posting,
      totals: this.#totals,
      alerts: this.#alerts,
      failures: [...this.#failures, ...deferred.failures],
      taken: batchInput.groups.map((group) => {
        const { tenantId, receivedAtMs, record } = group;
        return { tenantId, receivedAtMs, eventCount: record.eventCount - deferred.countOf(group) };
      }),
      deferred,
      counts,
    };
  }
}

/** A batch that loses or invents an event must not commit. */
function assertCounted({ claimed, ...outcomes }: BatchCounts): void {
  const counted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  if (counted !== claimed) throw new Error(`claimed ${claimed} events but counted ${counted}`);
}
