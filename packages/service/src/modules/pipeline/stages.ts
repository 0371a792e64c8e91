import type { ThreadTime } from '../../platform/thread-time.js';
import type { Turns } from '../../platform/turns.js';
import type { BatchPosting } from '../limits/index.js';
import type { BatchInput, FailedGroup } from './batch-input.js';
import { type BatchResult, BatchResultBuilder, type BatchResultOptions } from './batch-result.js';
import type { BatchRules } from './batch-rules.js';
import type { AcceptedEvent, EventGroup } from './event.js';
import { type BatchEvent, isProcessed, rateBatchEvent, readEnvelope } from './rating.js';
import { RatingAllowance } from './rating-allowance.js';
import type { RollupDimensions } from './rollup-dimensions.js';
import { WorkTimer } from './work-timer.js';

/** Rated events are posted and encoded after this many: what is parsed lives until then. */
const SLICE_EVENTS = 500;

export interface StagesInput extends BatchResultOptions {
  readonly batchInput: BatchInput;
  /** Failed events that the batch input asks for, to be rated anew. */
  readonly again: readonly FailedGroup[];
  /** Events of the batch input that an earlier batch has rated. */
  readonly duplicates: ReadonlySet<AcceptedEvent>;
  readonly rules: BatchRules;
  readonly posting: Pick<BatchPosting, 'prepare'>;
  readonly rollup: Pick<RollupDimensions, 'prepare' | 'rawOnlyOf'>;
  /** Yields for slow rules, so that other batches continue and sockets are served. */
  readonly turns: Turns;
  /** Milliseconds of thread time that the events of each tenant may take, in addition to ordinary ones. */
  readonly tenantMs: number;
  /** Tenants that have used up their time in this batch or a concurrent one; the rest of their events is deferred. */
  readonly slowTenants: Set<string>;
  /** Measures the time that events take. */
  readonly thread: ThreadTime;
}

/**
 * The way of an event, stage by stage. Each stage takes one value and returns one.
 * 1. **Accept** (`modules/ingest/service.ts`): a request becomes a segment on disk, and the answer is 202.
 * 2. **Rate** (`rating.ts`): an event becomes charge items, by the rule versions of its time.
 * 3. **Post** (`modules/limits/posting`): `prepare` finds the account, limits and lease of each event; the
 *    `PostingPlan` adds up what the batch debits and counts; `write` executes it.
 * 4. **Encode** (`batch-result.ts`): rated and posted, an event becomes a row of `usage_events` in ClickHouse's format.
 * 5. **Project** (`projector.ts`): the rows of a committed batch are inserted into ClickHouse, once.
 * `processBatch` (`batch.ts`) runs 2 to 4 in one transaction; this function is between claiming and writing.
 */
export async function runStages(input: StagesInput): Promise<BatchResult> {
  const stages = new Stages(input);
  const { deferred } = stages.result;
  const { batchInput, again } = input;
  await input.rollup.prepare([...batchInput.groups, ...again]);
  for (const group of batchInput.groups) {
    await stages.rate(group, (events, isWhole) =>
      isWhole ? deferred.addWhole(group, events) : deferred.addEvents(group, events),
    );
  }
  for (const group of again) await stages.rate(group, () => deferred.addFailed(group));
  await stages.postAndEncode();
  return stages.result.result(batchInput);
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

class Stages {
  readonly result: BatchResultBuilder;
  /** Routes and leases are looked up for several groups at once: a group is often a single event. */
  #slice: RatedGroup[] = [];
  #ratedCount = 0;
  readonly #ratingTime: RatingAllowance;
  readonly #postingTime: RatingAllowance;
  readonly #timer: WorkTimer;

  constructor(private readonly input: StagesInput) {
    this.result = new BatchResultBuilder(input);
    this.#ratingTime = new RatingAllowance(input.tenantMs);
    this.#postingTime = new RatingAllowance(input.tenantMs);
    this.#timer = new WorkTimer(input.thread);
  }

  /** Rates the events of a group that are not duplicates; defers those for which its tenant has no time left. */
  async rate(group: EventGroup, defer: Deferral): Promise<void> {
    const { duplicates, rules, onDefect, turns, slowTenants } = this.input;
    const { tenantId, projectId } = group;
    const events = group.events.filter((event) => !duplicates.has(event));
    const time = this.#ratingTime.of(tenantId);
    if (slowTenants.has(tenantId)) return defer(events, true);
    for (let count = group.events.length - events.length; count > 0; count--) this.result.addDuplicate(group);
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
    if (this.#ratedCount >= SLICE_EVENTS) await this.postAndEncode();
  }

  /** Posts and encodes rated events; defers those for which their tenant has no time left. */
  async postAndEncode(): Promise<void> {
    const slice = this.#slice;
    this.#slice = [];
    this.#ratedCount = 0;
    const { posting, turns, slowTenants } = this.input;
    const postings = await posting.prepare(
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
        if (ratedEvent !== undefined) {
          const eventPosting = isProcessed(ratedEvent) ? postings.of(group, ratedEvent) : undefined;
          this.result.addEvent(group, event, ratedEvent, eventPosting);
        }
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
}
