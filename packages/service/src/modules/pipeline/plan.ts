import { setImmediate } from 'node:timers/promises';
import { encodeUsageEvent, type RowBinaryWriter, type UsageEventRow } from '../usage/index.js';
import type { BatchRules } from './batch-rules.js';
import type { FailedEvent } from './batch-store.js';
import type { AcceptedEvent, Envelope, EventGroup } from './event.js';
import type { Intake } from './intake.js';
import type { BatchCounts } from './observer.js';
import { type DefectListener, defectRow, failedEventOf, rateEvent, readEnvelope } from './rating.js';
import { BatchTotals } from './totals.js';

/** After so many events the thread is given back, so that sockets are served while a batch is rated. */
const SLICE_EVENTS = 1_000;

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

export interface PlanInput {
  readonly intake: Intake;
  /** Failed events that the intake asks for, to be rated anew. */
  readonly again: readonly EventGroup[];
  /** Events of the intake that an earlier batch has rated. */
  readonly duplicates: ReadonlySet<AcceptedEvent>;
  readonly rules: BatchRules;
  readonly processedAtMs: number;
  /** Emptied first. */
  readonly writer: RowBinaryWriter;
  readonly onDefect: DefectListener;
}

/** Rates, encodes and adds up all that is not a duplicate. */
export async function planBatch(input: PlanInput): Promise<BatchPlan> {
  const planner = new Planner(input);
  let untilPause = SLICE_EVENTS;
  for (const group of [...input.intake.groups, ...input.again]) {
    await planner.add(group);
    untilPause -= group.events.length;
    if (untilPause > 0) continue;
    untilPause = SLICE_EVENTS;
    await setImmediate();
  }
  return planner.plan();
}

class Planner {
  readonly #totals = new BatchTotals();
  readonly #failures: FailedEvent[] = [];
  #processed = 0;
  #failed = 0;
  #reprocessed = 0;

  constructor(private readonly input: PlanInput) {
    input.writer.clear();
  }

  async add(group: EventGroup): Promise<void> {
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
    for (const [index, event] of events.entries()) this.#addEvent(group, event, envelopes[index]);
    group.body.close();
  }

  #addEvent(group: EventGroup, event: AcceptedEvent, envelope: Envelope | undefined): void {
    const { rules, processedAtMs, writer, onDefect } = this.input;
    const rated = rateEvent(group, event, envelope, rules, processedAtMs, onDefect);
    const row = encodeOrFail(writer, event, rated, onDefect);
    const isAgain = group.attempt > 0;
    this.#totals.addRow(row, isAgain);
    if (isAgain) this.#reprocessed++;
    else if (row.status === 'failed') this.#failed++;
    else this.#processed++;
    if (row.status === 'failed') this.#failures.push(failedEventOf(group, event, row));
  }

  plan(): BatchPlan {
    const { intake, duplicates, writer } = this.input;
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
    return {
      writer,
      eventCount: processed + failed + reprocessed,
      totals: this.#totals,
      failures: this.#failures,
      projectIds: this.#totals.projectIds(),
      counts,
    };
  }
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
