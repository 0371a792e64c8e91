import { Turns } from '../../platform/turns.js';
import { type BatchPosting, NOT_POSTED } from '../limits/index.js';
import type { UsageBlock, UsageEventRow } from '../usage/index.js';
import { UsageAlerts } from './alerts.js';
import type { BatchRules } from './batch-rules.js';
import type { FailedEvent } from './batch-store.js';
import type { AcceptedEvent, EventGroup } from './event.js';
import type { Intake } from './intake.js';
import type { BatchCounts } from './observer.js';
import { PostedTotals } from './posted-totals.js';
import {
  type DefectListener,
  defectRow,
  failedEventOf,
  type RatedEvent,
  rateEvent,
  readEnvelope,
  rowOf,
} from './rating.js';
import type { RollupDimensions } from './rollup-dimensions.js';
import { type BatchSection, BatchSections } from './sections.js';
import { BatchTotals } from './totals.js';

/** After so many events they are posted and encoded: what is parsed lives until then, and is copied if a collection of garbage comes first. */
const SLICE_EVENTS = 500;

/** All that a batch will write. */
export interface BatchPlan {
  /** The rows of `usage_events`, encoded; none when there are no rows. */
  readonly sections: readonly BatchSection[];
  readonly totals: BatchTotals;
  readonly alerts: UsageAlerts;
  readonly failures: readonly FailedEvent[];
  readonly counts: BatchCounts;
}

export interface PlanInput {
  readonly intake: Intake;
  /** Failed events that the intake asks for, to be rated anew. */
  readonly again: readonly EventGroup[];
  /** Events of the intake that an earlier batch has rated. */
  readonly duplicates: ReadonlySet<AcceptedEvent>;
  readonly rules: BatchRules;
  readonly posting: Pick<BatchPosting, 'prepare' | 'plan' | 'add' | 'debits'>;
  readonly rollup: Pick<RollupDimensions, 'prepare' | 'rawOnlyOf'>;
  readonly processedAtMs: number;
  /** Of the tables that projects share; empty. */
  readonly block: UsageBlock;
  readonly onDefect: DefectListener;
}

/** Rates, posts, encodes and adds up all that is not a duplicate. */
export async function planBatch(input: PlanInput): Promise<BatchPlan> {
  const planner = new Planner(input);
  const groups = [...input.intake.groups, ...input.again];
  await input.rollup.prepare(groups);
  for (const group of groups) {
    await planner.rate(group);
    if (planner.ratedCount >= SLICE_EVENTS) await planner.post();
  }
  await planner.post();
  return planner.plan();
}

/** The events of a group, rated and not encoded yet. */
interface RatedGroup {
  readonly group: EventGroup;
  readonly events: readonly AcceptedEvent[];
  readonly rated: readonly RatedEvent[];
}

class Planner {
  readonly #totals = new BatchTotals();
  readonly #alerts = new UsageAlerts();
  readonly #posted = new PostedTotals();
  readonly #sections: BatchSections;
  readonly #failures: FailedEvent[] = [];
  /** Routes and leases are looked up for several groups at once: a group is often a single event. */
  #slice: RatedGroup[] = [];
  #ratedCount = 0;
  /** Some rules are slow: other batches go on and sockets are served meanwhile. */
  readonly #turns = new Turns();
  #processed = 0;
  #failed = 0;
  #reprocessed = 0;

  constructor(private readonly input: PlanInput) {
    this.#sections = new BatchSections(input.block);
  }

  /** Events that are rated and wait to be posted. */
  get ratedCount(): number {
    return this.#ratedCount;
  }

  async rate(group: EventGroup): Promise<void> {
    const { duplicates, rules, onDefect } = this.input;
    const events: AcceptedEvent[] = [];
    for (const event of group.events) {
      if (!duplicates.has(event)) events.push(event);
      else this.#totals.addDuplicate(group.tenantId, group.projectId);
    }
    const envelopes = events.map((event) => readEnvelope(group, event, onDefect));
    const ruleSetIds = new Set<string>();
    for (const envelope of envelopes) if (envelope !== undefined) ruleSetIds.add(envelope.extractorRuleSetId);
    await rules.prepare(group.projectId, ruleSetIds);
    const rated: RatedEvent[] = [];
    for (const [index, event] of events.entries()) {
      const envelope = envelopes[index];
      const version =
        envelope && rules.at(group.projectId, envelope.extractorRuleSetId, envelope.facts.occurredAt);
      const known = version instanceof Promise ? await version : version;
      rated.push(rateEvent(group, event, envelope, known, onDefect));
      if (this.#turns.isOver) await this.#turns.pause();
    }
    this.#slice.push({ group, events, rated });
    this.#ratedCount += events.length;
  }

  /** Posts and encodes what has been rated. */
  async post(): Promise<void> {
    const slice = this.#slice;
    this.#slice = [];
    this.#ratedCount = 0;
    await this.input.posting.prepare(
      slice.map(({ group, rated }) => ({ scope: group, events: rated.filter(isProcessed) })),
    );
    for (const { group, events, rated } of slice) {
      for (const [index, event] of events.entries()) {
        const ratedEvent = rated[index];
        if (ratedEvent !== undefined) this.#addEvent(group, event, ratedEvent);
      }
      group.body.close();
    }
  }

  #addEvent(group: EventGroup, event: AcceptedEvent, rated: RatedEvent): void {
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
    const { intake, duplicates } = this.input;
    for (const { tenantId, projectId } of intake.repeated) this.#totals.addDuplicate(tenantId, projectId);
    const [processed, failed, reprocessed] = [this.#processed, this.#failed, this.#reprocessed];
    const counts = {
      claimed: intake.claimed,
      processed,
      failed,
      duplicate: intake.repeated.length + duplicates.size,
      reprocessed,
      skipped: intake.repeatedReprocess + intake.reprocess.length - reprocessed,
    };
    assertCounted(counts);
    this.#posted.assertEqual(this.input.posting.debits());
    return {
      sections: this.#sections.all(this.#totals.projects()),
      totals: this.#totals,
      alerts: this.#alerts,
      failures: this.#failures,
      counts,
    };
  }
}

function isProcessed({ failure }: RatedEvent): boolean {
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
function assertCounted({ claimed, processed, failed, duplicate, reprocessed, skipped }: BatchCounts): void {
  const counted = processed + failed + duplicate + reprocessed + skipped;
  if (counted !== claimed) throw new Error(`claimed ${claimed} events but counted ${counted}`);
}
