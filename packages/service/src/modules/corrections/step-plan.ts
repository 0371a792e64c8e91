import { EVENT_HISTORY_BYTES_MAX, EVENT_REVISIONS_MAX } from '@tollgate/contract';
import { type EventRevisions, hasRemainder, type UsageEventRow } from '../usage/index.js';
import { ChangedExamples, ChangedTotals } from './changes.js';
import type { PeriodCount } from './count.js';
import { countedRow } from './counted-row.js';
import { revisionOf } from './engine.js';
import { type Outcome, withOutcome } from './outcome.js';
import type { CorrectionPart } from './part-store.js';
import type { Rerated } from './rating.js';
import { StoredOutcomes } from './stored-outcomes.js';

/** An event with the revision that a plan gives it. */
export interface PlannedEvent {
  readonly id: string;
  readonly former: UsageEventRow;
  readonly outcome: Outcome;
  /** Its charge items in counters: those in force, and the next ones. */
  readonly counts: readonly PeriodCount[];
}

type Failure = Extract<Rerated, { ok: false }>['failure'];

export interface StepPlanOptions {
  /** The number of events of each part but the last, unless they are large. */
  readonly partEvents: number;
  readonly hasOutcomes: boolean;
  /** The revisions of the events that are read. */
  readonly revisions: Pick<EventRevisions, 'jsonBytesOf' | 'historyOf'>;
}

const TOO_MANY_REVISIONS: Failure = {
  code: 'too_many_revisions',
  message:
    `An event with ${EVENT_REVISIONS_MAX} revisions (EVENT_REVISIONS_MAX), or revisions with ` +
    `${EVENT_HISTORY_BYTES_MAX} bytes of JSON (EVENT_HISTORY_BYTES_MAX), cannot be corrected again.`,
  path: '',
};
/** A part ends with the event that gives it so much JSON: all rows of a part are in memory together. */
const PART_JSON_BYTES = 16 * 1_048_576;

/** A part without its number. */
interface NewPart extends Pick<CorrectionPart, 'ids' | 'formerRevisions' | 'formerAttempts' | 'outcomes'> {
  readonly counts: readonly PeriodCount[];
}

/**
 * The plan of one step. It keeps only the stored fields of each event, because rows of thousands of events would be
 * copied by several collections of garbage.
 */
export class StepPlan {
  readonly totals = new ChangedTotals();
  readonly examples = new ChangedExamples();
  readonly failed: Failure[] = [];
  matched = 0;
  /** Events whose next revision is known. */
  changed = 0;
  readonly #partEvents: number;
  readonly #hasOutcomes: boolean;
  readonly #revisions: StepPlanOptions['revisions'];
  readonly #parts: Promise<NewPart>[] = [];
  #open = emptyPart();

  constructor({ partEvents, hasOutcomes, revisions }: StepPlanOptions) {
    this.#partEvents = partEvents;
    this.#hasOutcomes = hasOutcomes;
    this.#revisions = revisions;
  }

  /**
   * Adds an event, in ascending order of ids. The amounts of counted items are not known before all are counted. An
   * event that has very much history fails, because all of its revisions are read together.
   */
  add({ id, former, outcome, counts }: PlannedEvent): void {
    const { revisions, jsonBytes } = this.#revisions.historyOf(id);
    if (revisions >= EVENT_REVISIONS_MAX || jsonBytes >= EVENT_HISTORY_BYTES_MAX) {
      this.failed.push(TOO_MANY_REVISIONS);
      return;
    }
    if (counts.length === 0) {
      const next = rowWithoutCounts(former, outcome);
      this.changed++;
      this.totals.add(former, next);
      this.examples.add(former, former, next);
    }
    this.#open.ids.push(id);
    this.#open.jsonBytes += this.#revisions.jsonBytesOf(id);
    this.#open.formerRevisions.push(revisionOf(former));
    this.#open.formerAttempts.push(former.attempt);
    this.#open.counts.push(...counts);
    if (this.#hasOutcomes) this.#open.outcomes.add(outcome);
    if (this.#open.ids.length === this.#partEvents || this.#open.jsonBytes >= PART_JSON_BYTES) this.#close();
  }

  /** Returns the parts of all events. */
  parts(): Promise<NewPart[]> {
    if (this.#open.ids.length > 0) this.#close();
    return Promise.all(this.#parts);
  }

  #close(): void {
    const { outcomes, jsonBytes: _, ...part } = this.#open;
    this.#open = emptyPart();
    this.#parts.push(outcomes.encoded().then((encoded) => ({ ...part, outcomes: encoded })));
  }
}

function emptyPart() {
  return {
    ids: [] as string[],
    formerRevisions: [] as number[],
    formerAttempts: [] as number[],
    counts: [] as PeriodCount[],
    outcomes: new StoredOutcomes(),
    jsonBytes: 0,
  };
}

/** Returns the next row of an event that has no items in counters. */
export function rowWithoutCounts(former: UsageEventRow, outcome: Outcome): UsageEventRow {
  const content = withOutcome(former, outcome);
  if (!hasRemainder(former)) return content;
  return countedRow({ current: former, content, taken: [], put: [], isCounted: () => true });
}
