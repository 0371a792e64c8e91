import { present } from '../../kernel/present.js';
import type { BatchPosting, PreparedPostings } from '../limits/index.js';
import {
  type BatchGroup,
  type BatchInput,
  type FailedGroup,
  type NewEvents,
  slicesOf,
} from './batch-input.js';
import { type BatchResult, BatchResultBuilder, type BatchResultOptions } from './batch-result.js';
import {
  type CountersOfBatch,
  CountingStage,
  type EventsWithCounters,
  inOrderOfCounters,
  type RatedEvents,
} from './counting.js';
import type { CarefulTurn } from './deferred-turns.js';
import type { AcceptedEvent } from './event.js';
import { type EventTimeOptions, StageTime } from './event-time.js';
import { type BatchRules, type GroupRating, isProcessed, rateGroup } from './rating.js';
import type { RollupDimensions } from './rollup-dimensions.js';

export interface StagesInput extends BatchResultOptions, EventTimeOptions {
  readonly batchInput: BatchInput;
  /** Failed events that the batch input wants to be rated again. */
  readonly again: readonly FailedGroup[];
  /** Events of the batch input that an earlier batch has rated. */
  readonly duplicates: ReadonlySet<AcceptedEvent>;
  readonly rules: BatchRules;
  readonly posting: Pick<BatchPosting, 'prepare'>;
  readonly counters: CountersOfBatch;
  readonly rollup: Pick<RollupDimensions, 'prepare' | 'excludedDimensionsOf'>;
  readonly careful?: CarefulTurn | undefined;
}

/**
 * The way of an event, stage by stage:
 *
 * 1. **Accept** (`modules/ingest/service.ts`) takes a request, and returns when its segment is on disk.
 * 2. **Rate** (`rating.ts`) takes an event, and returns its charge items by the rule version of its time.
 * 3. **Post** (`modules/limits/posting`) takes rated events, and returns the account, limits and lease of each.
 * 4. **Count** (`modules/counters`) takes events whose price depends on a total, and returns their charge items.
 * 5. **Encode** (`encoding.ts`) takes posted events, and returns their rows and what else the batch writes.
 * 6. **Project** (`projector.ts`) takes the rows of committed batches, and inserts them into ClickHouse, once.
 *
 * This function runs stages 2 to 5. `processBatch` (`batch.ts`) calls it in the transaction that claims the segments.
 */
export async function runStages(input: StagesInput): Promise<BatchResult> {
  const { batchInput, again, duplicates, rollup } = input;
  const groups = inOrderOfCounters([...batchInput.groups, ...again]);
  await rollup.prepare(groups);
  const result = new BatchResultBuilder(input);
  const stages = new BatchStages(input, result);
  for (const slice of slicesOf(groups, duplicates)) {
    const rated = await stages.rate(slice);
    const posted = await stages.post(rated);
    await stages.encode(await stages.count(posted));
  }
  return result.result(batchInput);
}

interface PostedSlice<Events extends RatedEvents> {
  readonly slice: readonly Events[];
  readonly postings: PreparedPostings;
}

class BatchStages {
  readonly #input: StagesInput;
  readonly #result: BatchResultBuilder;
  readonly #rating: GroupRating;
  readonly #encodingTime: StageTime;
  readonly #counting: CountingStage;

  constructor(input: StagesInput, result: BatchResultBuilder) {
    this.#input = input;
    this.#result = result;
    const { rules, onDefect, careful, slowTenants } = input;
    const isOver = ({ tenantId }: Pick<BatchGroup, 'tenantId'>) =>
      slowTenants.has(tenantId) || careful?.isOver === true;
    this.#rating = { rules, onDefect, careful, time: new StageTime(input), isOver };
    this.#encodingTime = new StageTime(input);
    this.#counting = new CountingStage(input.counters);
  }

  /** Rates events; defers those for which their tenant has no time left. */
  async rate(slice: readonly NewEvents[]): Promise<RatedEvents[]> {
    const ratedSlice: RatedEvents[] = [];
    this.#rating.time.resume();
    for (const { group, events } of slice) {
      if (this.#rating.isOver(group)) {
        this.#result.deferGroup(group, events);
        continue;
      }
      this.#result.addDuplicates(group, group.events.length - events.length);
      const rated = await rateGroup(group, events, this.#rating);
      this.#result.deferEvents(group, events.slice(rated.length));
      ratedSlice.push({ group, events, rated });
    }
    return ratedSlice;
  }

  /** Finds the account, the limits and the lease of rated events. */
  async post(slice: readonly RatedEvents[]): Promise<PostedSlice<RatedEvents>> {
    const usage = slice.map(({ group, rated }) => ({ scope: group, events: rated.filter(isProcessed) }));
    return { slice, postings: await this.#input.posting.prepare(usage) };
  }

  /** Reads the counters on which prices of events depend. */
  async count({ slice, postings }: PostedSlice<RatedEvents>): Promise<PostedSlice<EventsWithCounters>> {
    return { slice: await this.#counting.prepare(slice, postings), postings };
  }

  /** Adds posted events to the result, as rows; defers those for which their tenant has no time or no room left. */
  async encode({ slice, postings }: PostedSlice<EventsWithCounters>): Promise<void> {
    this.#encodingTime.resume();
    for (const { group, events, rated, counted } of slice) {
      const time = this.#encodingTime.of(group.tenantId);
      for (const [index, ratedEvent] of rated.entries()) {
        const isUnread = isProcessed(ratedEvent) && postings.mustWait(group, ratedEvent);
        if (isUnread || this.#result.isFull(group.tenantId)) this.#encodingTime.spend(time);
        if (time.isSpent) {
          this.#result.deferEvents(group, events.slice(index, rated.length));
          break;
        }
        this.#counting.end(ratedEvent, counted[index], (complete) => {
          const posting = isProcessed(complete) ? postings.of(group, complete) : undefined;
          return this.#result.addEvent(group, present(events[index], 'a rated event'), complete, posting);
        });
        if (this.#encodingTime.end(time)) await this.#encodingTime.pause();
      }
      group.body.close();
    }
  }
}
