import type { UsageEvent } from '@tollgate/contract';
import type { ProjectClient } from '@tollgate/sdk/browser';
import { type EventQuery, eventsQuery } from './filters.js';

const PAGE_SIZE = 100;
/** Upper bound of events that are counted, or reprocessed one by one, while the user waits. */
export const FAILED_EVENTS_MAX = 1_000;

/** The matching failed events, newest first. */
export async function failedEvents(
  { usage }: ProjectClient,
  eventQuery: EventQuery,
  signal: AbortSignal,
): Promise<UsageEvent[]> {
  const found: UsageEvent[] = [];
  const query = { ...eventsQuery(eventQuery), status: 'failed', limit: PAGE_SIZE } as const;
  for await (const event of usage.allEvents(query, { signal })) {
    found.push(event);
    if (found.length === FAILED_EVENTS_MAX) break;
  }
  return found;
}

/** Failed events with the same failure code. */
export interface FailureGroup {
  readonly code: string;
  readonly count: number;
  /** The message of the newest event. */
  readonly message: string;
}

/** The most frequent reason first. @param events newest first */
export function groupFailures(events: readonly UsageEvent[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const { failure } of events) {
    if (failure === null) continue;
    const { code, message } = failure;
    const group = groups.get(code) ?? { code, message, count: 0 };
    groups.set(code, { ...group, count: group.count + 1 });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** The progress of reprocessing. */
export interface Progress {
  /** Events that were rated again, whether or not they failed again. */
  readonly rated: number;
  readonly failedAgain: number;
}

/** @param still the matching events that are failed now */
export function progressOf(asked: readonly UsageEvent[], still: readonly UsageEvent[]): Progress {
  const now = new Map(still.map((event) => [event.raw_event_id, event]));
  const failed = asked.flatMap((event) => {
    const current = now.get(event.raw_event_id);
    return current === undefined ? [] : [{ event, current }];
  });
  const failedAgain = failed.filter(({ event, current }) => current.processed_at > event.processed_at).length;
  return { rated: asked.length - failed.length + failedAgain, failedAgain };
}
