import type { UsageEvent, UsageEventList } from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import type { Question } from './filters.js';

const PAGE_SIZE = 100;
/** More are not counted, and not asked for one by one while somebody waits. */
export const FAILED_EVENTS_MAX = 1_000;

/** The failed events that fit, newest first. @param project path of the project, below `/api` */
export async function failedEvents(
  project: string,
  question: Question,
  signal?: AbortSignal,
): Promise<UsageEvent[]> {
  const found: UsageEvent[] = [];
  let cursor: string | null = '';
  while (cursor !== null && found.length < FAILED_EVENTS_MAX) {
    const query = { ...question, status: 'failed', limit: PAGE_SIZE, cursor };
    const page: UsageEventList = await request('GET', withQuery(`${project}/usage/events`, query), {
      signal,
    });
    found.push(...page.events);
    cursor = page.next_cursor;
  }
  return found.slice(0, FAILED_EVENTS_MAX);
}

/** Failed events that have a reason in common. */
export interface FailureGroup {
  readonly code: string;
  readonly count: number;
  /** What the newest of them says. */
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

/** What became of failed events that were asked to be rated again. */
export interface Progress {
  /** Rated, whether or not they failed again. */
  readonly rated: number;
  readonly failedAgain: number;
}

/** @param still those that fit and have failed, as they stand now */
export function progressOf(asked: readonly UsageEvent[], still: readonly UsageEvent[]): Progress {
  const now = new Map(still.map((event) => [event.raw_event_id, event]));
  const failed = asked.flatMap((event) => {
    const current = now.get(event.raw_event_id);
    return current === undefined ? [] : [{ event, current }];
  });
  const failedAgain = failed.filter(({ event, current }) => current.processed_at > event.processed_at).length;
  return { rated: asked.length - failed.length + failedAgain, failedAgain };
}
