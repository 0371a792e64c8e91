import type { UsageEvent } from '@tollgate/contract';

/** The rows that are shown, and the events that have arrived since. */
export interface Feed {
  readonly rows: readonly UsageEvent[];
  /** New events that are not shown yet, newest first. */
  readonly arrived: readonly UsageEvent[];
  /** None of the newest events was known, so more may have arrived than `arrived` has. */
  readonly hasGap: boolean;
}

/**
 * Combines the rows of all pages with the latest read of the newest events. Rows that are shown are updated in
 * place, for example after reprocessing, and never move because of new events.
 *
 * @param shown newest first
 * @param newest the result of the latest read of the newest events
 */
export function feedOf(shown: readonly UsageEvent[], newest: readonly UsageEvent[] = []): Feed {
  const known = new Set(shown.map(({ raw_event_id }) => raw_event_id));
  const latest = new Map(newest.map((event) => [event.raw_event_id, event]));
  const arrived = newest.filter(({ raw_event_id }) => !known.has(raw_event_id));
  return {
    rows: shown.map((event) => latest.get(event.raw_event_id) ?? event),
    arrived,
    hasGap: shown.length > 0 && arrived.length > 0 && arrived.length === newest.length,
  };
}
