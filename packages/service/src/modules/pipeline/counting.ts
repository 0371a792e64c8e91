import { slotOf } from '../../kernel/shard.js';
import type { BatchCounters, EventToCount } from '../counters/index.js';
import type { PreparedPostings } from '../limits/index.js';
import type { UsageEventRow } from '../usage/index.js';
import type { BatchGroup, NewEvents } from './batch-input.js';
import { type BatchEvent, withCounters } from './rating.js';

export type CountersOfBatch = Pick<BatchCounters, 'prepare' | 'price' | 'undo'>;

/** Events, each with its result at the same index. */
export interface RatedEvents extends NewEvents {
  readonly rated: readonly BatchEvent[];
}

/** Sorts groups by the slot of their project: counters are locked slot by slot, in ascending order. */
export function inOrderOfCounters(groups: BatchGroup[]): readonly BatchGroup[] {
  return groups.sort((a, b) => slotOf(a.projectNo) - slotOf(b.projectNo));
}

/** Ends the rating of those events whose price depends on the total of a counter. */
export class CountingStage {
  readonly #counters: CountersOfBatch;
  #toCount = new Map<BatchEvent, EventToCount>();

  constructor(counters: CountersOfBatch) {
    this.#counters = counters;
  }

  /** Reads the counters of a slice of events. */
  async prepare(slice: readonly RatedEvents[], postings: PreparedPostings): Promise<void> {
    this.#toCount = new Map();
    for (const { group: scope, rated } of slice) {
      for (const event of rated) {
        const { counting, subject, occurredAt } = event;
        if (counting === undefined) continue;
        const route = postings.routeOf(scope, event);
        const accountId = route?.account.id ?? '';
        this.#toCount.set(event, {
          scope,
          occurredAt,
          subject,
          accountId,
          settings: route?.settings,
          counting,
        });
      }
    }
    await this.#counters.prepare([...this.#toCount.values()]);
  }

  /**
   * Ends the rating of an event, and adds it to the result. Nothing is counted if its row is that of a failed event.
   *
   * @param add returns the row of the complete event
   */
  end(event: BatchEvent, add: (complete: BatchEvent) => UsageEventRow): void {
    const toCount = this.#toCount.get(event);
    if (toCount === undefined) {
      add(event);
      return;
    }
    const row = add(withCounters(event, this.#counters.price(toCount)));
    if (row.status === 'failed') this.#counters.undo();
  }
}
