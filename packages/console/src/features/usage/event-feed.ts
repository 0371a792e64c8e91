import type { UsageEvent } from '@tollgate/contract';

/** What is shown, and what has arrived since. */
export interface Feed {
  readonly rows: readonly UsageEvent[];
  /** New, and not shown yet; newest first. */
  readonly arrived: readonly UsageEvent[];
  /** More may have arrived than `arrived` has: nothing of what is newest was known. */
  readonly hasGap: boolean;
}

/**
 * Puts together what was read page by page, what has arrived and was let in, and what the newest read tells.
 * Rows that are shown change in place, as one that was rated again does, and never move for what is new.
 *
 * @param shown newest first
 * @param newest what the last read of the newest events had
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
