import type { ThreadTime } from '../../platform/thread-time.js';
import type { Turns } from '../../platform/turns.js';
import { type BatchPosting, NOT_POSTED } from '../limits/index.js';
import type { UsageBlock, UsageEventRow } from '../usage/index.js';
import { UsageAlerts } from './alerts.js';
import type { TakenEvents } from './arrivals.js';
import type { AcceptedGroup, BatchInput, FailedGroup } from './batch-input.js';
import type { BatchRules } from './batch-rules.js';
import type { FailedEvent } from './batch-store.js';
import { DeferredEvents } from './defer.js';
import type { AcceptedEvent, EventGroup } from './event.js';
import type { BatchCounts } from './observer.js';
import { PostedTotals } from './posted-totals.js';
import {
  type BatchEvent,
  type DefectListener,
  defectRow,
  failedEventOf,
  rateBatchEvent,
  readEnvelope,
  rowOf,
} from './rating.js';
import { RatingAllowance } from './rating-allowance.js';
import type { RollupDimensions } from './rollup-dimensions.js';
import { type BatchSection, BatchSections } from './sections.js';
import { BatchTotals } from './totals.js';
import { WorkTimer } from './work-timer.js';

/**
 * After so many events they are posted and encoded: what is parsed lives until then, and is copied if a
 * collection of garbage comes first.
 */
const SLICE_EVENTS = 500;

/** All that a batch will write. */
export interface BatchPlan {
  /** The rows of `usage_events`, encoded; none when there are no rows. */
  readonly sections: readonly BatchSection[];
  readonly totals: BatchTotals;
  readonly alerts: UsageAlerts;
  /** Failed events to keep, and those that stay as they were. */
  readonly failures: readonly FailedEvent[];
  /** Events removed from the queue. */
  readonly taken: readonly TakenEvents[];
  readonly deferred: DeferredEvents;
  readonly counts: BatchCounts;
}

export interface PlanInput {
  readonly batchInput: BatchInput;
  /** Failed events that the batch input asks for, to be rated anew. */
  readonly again: readonly FailedGroup[];
  /** Events of the batch input that an earlier batch has rated. */
  readonly duplicates: ReadonlySet<AcceptedEvent>;
  readonly rules: BatchRules;
  readonly posting: Pick<BatchPosting, 'prepare' | 'plan' | 'add' | 'debits'>;
  readonly rollup: Pick<RollupDimensions, 'prepare' | 'rawOnlyOf'>;
  readonly processedAtMs: number;
  /** Of the tables that projects share; empty. */
  readonly block: UsageBlock;
  readonly onDefect: DefectListener;
  /** Yields for slow rules, so that other batches continue and sockets are served. */
  readonly turns: Turns;
  /** Milliseconds of thread time that the events of each tenant may take, in addition to ordinary ones. */
  readonly tenantMs: number;
  /** Tenants that have used up their time in this batch or a concurrent one; the rest of their events is deferred. */
  readonly slowTenants: Set<string>;
  /** Measures the time that events take. */
  readonly thread: ThreadTime;
}

/** Rates, posts, encodes and adds up all that is not a duplicate. */
export async function planBatch(input: PlanInput): Promise<BatchPlan> {
  const planner = new Planner(input);
  const { batchInput, again } = input;
  await input.rollup.prepare([...batchInput.groups, ...again]);
  for (const group of batchInput.groups) await planner.rate(group, planner.deferral(group));
  for (const group of again) await planner.rate(group, () => planner.deferred.addFailed(group));
  await planner.post();
  return planner.plan();
}

/** Defers some or all events of a group. */
type Deferral = (events: readonly AcceptedEvent[], isWhole: boolean) => void;

/** The events of a group, rated and not encoded yet. */
interface RatedGroup {
  readonly group: EventGroup;
  readonly events: readonly AcceptedEvent[];
  readonly rated: readonly BatchEvent[];
  readonly defer: Deferral;
}

class Planner {
  readonly deferred = new DeferredEvents();
  readonly #totals = new BatchTotals();
  readonly #alerts = new UsageAlerts();
  readonly #posted = new PostedTotals();
  readonly #sections: BatchSections;
  readonly #failures: FailedEvent[] = [];
  /** Routes and leases are looked up for several groups at once: a group is often a single event. */
  #slice: RatedGroup[] = [];
  #ratedCount = 0;
  readonly #ratingTime: RatingAllowance;
  readonly #postingTime: RatingAllowance;
  readonly #timer: WorkTimer;
  #duplicates = 0;
  #processed = 0;
  #failed = 0;
  #reprocessed = 0;

  constructor(private readonly input: PlanInput) {
    this.#sections = new BatchSections(input.block);
    this.#ratingTime = new RatingAllowance(input.tenantMs);
    this.#postingTime = new RatingAllowance(input.tenantMs);
    this.#timer = new WorkTimer(input.thread);
  }

  deferral(group: AcceptedGroup): Deferral {
    return (events, isWhole) =>
      isWhole ? this.deferred.addWhole(group, events) : this.deferred.addEvents(group, events);
  }

  /** Rates the events of a group that are not duplicates; defers those for which its tenant has no time left. */
  async rate(group: EventGroup, defer: Deferral): Promise<void> {
    const { duplicates, rules, onDefect, turns, slowTenants } = this.input;
    const { tenantId, projectId } = group;
    const events = group.events.filter((event) => !duplicates.has(event));
    const time = this.#ratingTime.of(tenantId);
    if (slowTenants.has(tenantId)) return defer(events, true);
    for (let count = group.events.length - events.length; count > 0; count--) this.#addDuplicate(group);
    const envelopes = events.map((event) => readEnvelope(group, event, onDefect));
    const ruleSetIds = new Set<string>();
    for (const envelope of envelopes) if (envelope !== undefined) ruleSetIds.add(envelope.extractorRuleSetId);
    await rules.prepare(projectId, ruleSetIds);
    const rated: BatchEvent[] = [];
    for (const [index, event] of events.entries()) {
      if (slowTenants.has(tenantId)) break;
      const envelope = envelopes[index];
      const version = envelope && rules.at(projectId, envelope.extractorRuleSetId, envelope.facts.occurredAt);
      const known = version instanceof Promise ? await version : version;
      this.#timer.start();
      rated.push(rateBatchEvent(group, event, envelope, known, onDefect));
      time.add(this.#timer.lapMs());
      if (time.isSpent) slowTenants.add(tenantId);
      if (turns.isOverAt(this.#timer.atMs)) await this.#pause();
    }
    if (rated.length < events.length) defer(events.slice(rated.length), false);
    this.#slice.push({ group, events: events.slice(0, rated.length), rated, defer });
    this.#ratedCount += rated.length;
    if (this.#ratedCount >= SLICE_EVENTS) await this.post();
  }

  /** Posts and encodes rated events; defers those for which their tenant has no time left. */
  async post(): Promise<void> {
    const slice = this.#slice;
    this.#slice = [];
    this.#ratedCount = 0;
    const { posting, turns, slowTenants } = this.input;
    await posting.prepare(
      slice.map(({ group, rated }) => ({ scope: group, events: rated.filter(isProcessed) })),
    );
    this.#timer.resume();
    for (const { group, events, rated, defer } of slice) {
      const time = this.#postingTime.of(group.tenantId);
      for (const [index, event] of events.entries()) {
        if (time.isSpent) {
          defer(events.slice(index), false);
          break;
        }
        const ratedEvent = rated[index];
        if (ratedEvent !== undefined) this.#addEvent(group, event, ratedEvent);
        time.add(this.#timer.lapMs());
        if (time.isSpent) slowTenants.add(group.tenantId);
        if (turns.isOverAt(this.#timer.atMs)) await this.#pause();
      }
      group.body.close();
    }
  }

  async #pause(): Promise<void> {
    await this.input.turns.pause();
    this.#timer.resume();
  }

  #addDuplicate({ tenantId, projectId }: EventGroup): void {
    this.#totals.addDuplicate(tenantId, projectId);
    this.#duplicates++;
  }

  #addEvent(group: EventGroup, event: AcceptedEvent, rated: BatchEvent): void {
    const { posting, rollup, processedAtMs, onDefect } = this.input;
    const planned = isProcessed(rated) ? posting.plan(group, rated) : undefined;
    const rawOnly = rated.items.length === 0 ? [] : rollup.rawOnlyOf(group.projectId, rated.dimensions);
    const row = addOrFail(
      this.#sections.blockOf(group),
      event,
      rowOf(group, event, rated, planned ?? NOT_POSTED, rawOnly, processedAtMs),
      onDefect,
    );
    if (planned !== undefined && row.status === 'processed') posting.add(group, rated, planned);
    const isAgain = group.attempt > 0;
    this.#totals.addRow(row, isAgain);
    this.#alerts.addRow(row);
    this.#posted.addRow(row);
    if (isAgain) this.#reprocessed++;
    else if (row.status === 'failed') this.#failed++;
    else this.#processed++;
    if (row.status === 'failed') this.#failures.push(failedEventOf(group, event, row));
  }

  plan(): BatchPlan {
    const { deferred } = this;
    const { batchInput } = this.input;
    for (const group of batchInput.repeated) if (!deferred.isWhole(group)) this.#addDuplicate(group);
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
    this.#posted.assertEqual(this.input.posting.debits());
    return {
      sections: this.#sections.all(this.#totals.projects()),
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

function isProcessed({ failure }: BatchEvent): boolean {
  return failure === undefined;
}

/** Adds the row, or, where a column cannot hold a value of it, the event's failure; answers what was added. */
function addOrFail(
  block: UsageBlock,
  event: AcceptedEvent,
  row: UsageEventRow,
  onDefect: DefectListener,
): UsageEventRow {
  try {
    block.add(row);
    return row;
  } catch (error) {
    onDefect(error, event);
    const failed = defectRow(row);
    block.add(failed);
    return failed;
  }
}

/** A batch that loses or invents an event must not commit. */
function assertCounted({ claimed, ...outcomes }: BatchCounts): void {
  const counted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  if (counted !== claimed) throw new Error(`claimed ${claimed} events but counted ${counted}`);
}
