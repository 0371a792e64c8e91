import { slotOf } from '../../kernel/shard.js';
import type { BatchCounters, CountedEvent, EventToCount } from '../counters/index.js';
import type { PreparedPostings } from '../limits/index.js';
import type { CountingEvent } from '../rules/index.js';
import type { UsageEventRow } from '../usage/index.js';
import type { BatchGroup, NewEvents } from './batch-input.js';
import { type BatchEvent, withCounters } from './rating.js';

export type CountersOfBatch = Pick<BatchCounters, 'prepare' | 'price' | 'undo'>;

/** Events, each with its result at the same index. */
export interface RatedEvents extends NewEvents {
  readonly rated: readonly BatchEvent[];
}

/** Rated events whose counters are known, and which events they move: undefined for one with prices of its own. */
export interface EventsWithCounters extends RatedEvents {
  readonly counted: readonly (CountedEvent | undefined)[];
}

/** Sorts groups by the slot of their project: counters are locked slot by slot, in ascending order. */
export function inOrderOfCounters(groups: BatchGroup[]): readonly BatchGroup[] {
  return groups.sort((a, b) => slotOf(a.projectNo) - slotOf(b.projectNo));
}

/** Ends the rating of those events whose price depends on the total of a counter. */
export class CountingStage {
  readonly #counters: CountersOfBatch;

  constructor(counters: CountersOfBatch) {
    this.#counters = counters;
  }

  /** Reads the counters of a slice of events. */
  async prepare(
    slice: readonly RatedEvents[],
    postings: PreparedPostings,
  ): Promise<readonly EventsWithCounters[]> {
    const toCount: EventToCount[] = [];
    for (const { group, rated } of slice) {
      for (const event of rated) {
        if (event.counting !== undefined) toCount.push(eventToCount(group, event, event.counting, postings));
      }
    }
    const counted = await this.#counters.prepare(toCount);
    let next = 0;
    return slice.map(({ group, events, rated }) => ({
      group,
      events,
      rated,
      counted: rated.map(({ counting }) => (counting === undefined ? undefined : counted[next++])),
    }));
  }

  /**
   * Ends the rating of an event, and adds it to the result. Nothing is counted if its row is that of a failed event.
   *
   * @param add returns the row of the complete event
   */
  end(
    event: BatchEvent,
    counted: CountedEvent | undefined,
    add: (complete: BatchEvent) => UsageEventRow,
  ): void {
    if (counted === undefined) {
      add(event);
      return;
    }
    const row = add(withCounters(event, this.#counters.price(counted)));
    if (row.status === 'failed') this.#counters.undo();
  }
}

function eventToCount(
  scope: BatchGroup,
  event: BatchEvent,
  counting: CountingEvent,
  postings: PreparedPostings,
): EventToCount {
  const { subject, occurredAt } = event;
  const route = postings.routeOf(scope, event);
  const accountId = route?.account.id ?? '';
  return { scope, occurredAt, subject, accountId, settings: route?.settings, counting };
}
