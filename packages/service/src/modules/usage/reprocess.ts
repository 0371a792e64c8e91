import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { type Postgres, ProjectDb, type Tx } from '../../platform/postgres/index.js';
import { reprocessRecord, type SegmentQueue } from '../../platform/queue/index.js';
import type { UsageHistory } from '../storage/index.js';
import { eventState, type FailedEventRange, failedEventIds } from './failed-store.js';

/** Upper bound of the events in one queue record: a worker's batch takes only a few records of this size. */
export const REPROCESS_CHUNK_EVENTS_MAX = 10_000;

export interface ReprocessDeps {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly queue: Pick<SegmentQueue<Tx>, 'append'>;
  readonly clock: Clock;
  readonly history: UsageHistory;
}

/**
 * Queues one failed event to be rated again. `id`: 32 hex digits.
 * @throws DomainError `not_found`, `event_not_failed`
 */
export async function reprocessEvent(deps: ReprocessDeps, project: ProjectRef, id: string): Promise<void> {
  const db = new ProjectDb(deps.postgres.db, project);
  const state = await eventState(db, await deps.history.scopeOf(project), id);
  if (state === 'absent') throw new DomainError('not_found');
  if (state !== 'failed') {
    throw new DomainError('event_not_failed', {
      message: `The status of the event is ${state}. Only a failed event can be reprocessed.`,
      details: [
        { path: 'raw_event_id', message: `the status of the event is ${state}`, event_status: state },
      ],
    });
  }
  await deps.queue.append([reprocessRecord(project, [id], deps.clock.nowMs())]);
}

/**
 * Queues every failed event of the range and returns their number. A chunk is durable before the next is read; a
 * request that was interrupted can be repeated, because an event that is queued twice is rated once.
 */
export async function reprocessEvents(
  deps: ReprocessDeps,
  project: ProjectRef,
  range: FailedEventRange,
): Promise<number> {
  let count = 0;
  const db = new ProjectDb(deps.postgres.db, project);
  const scope = await deps.history.scopeOf(project);
  for await (const ids of failedEventIds(db, scope, range, REPROCESS_CHUNK_EVENTS_MAX)) {
    await deps.queue.append([reprocessRecord(project, ids, deps.clock.nowMs())]);
    count += ids.length;
  }
  return count;
}
