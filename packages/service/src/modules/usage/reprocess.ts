import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { type Postgres, ProjectDb, type Tx } from '../../platform/postgres/index.js';
import { reprocessRecord, type SegmentQueue } from '../../platform/queue/index.js';
import { pause } from '../../platform/wakeup.js';
import type { UsageHistory } from '../storage/index.js';
import { eventState, type FailedEventRange, failedEventIds } from './failed-store.js';

/** Upper bound of the events in one queue record: a worker's batch takes only a few records of this size. */
export const REPROCESS_CHUNK_EVENTS_MAX = 10_000;

/** Pause between two looks for room in the queue: rating takes a few thousand events off meanwhile. */
const ROOM_PAUSE_MS = 250;

/** The room that a tenant has in the queue, which it shares with all others. */
export interface QueueRoom {
  /** @throws DomainError `ingest_backlog_full`, `tenant_moving` */
  checkRoom(project: ProjectRef): void;
  /** Whether the tenant may queue some more stored events now. */
  hasRoomToReprocess(project: ProjectRef): Promise<boolean>;
}

export interface ReprocessDeps {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly queue: Pick<SegmentQueue<Tx>, 'append'>;
  readonly room: QueueRoom;
  readonly clock: Clock;
  readonly history: UsageHistory;
  /** For tests. */
  readonly pause?: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Queues one failed event to be rated again. `id`: 32 hex digits.
 * @throws DomainError `not_found`, `event_not_failed`, `ingest_backlog_full`, `tenant_moving`
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
  deps.room.checkRoom(project);
  await deps.queue.append([reprocessRecord(project, [id], deps.clock.nowMs())]);
}

/**
 * Queues every failed event of the range and returns their number. A chunk is durable before the next is read; a
 * request that was interrupted can be repeated, because an event that is queued twice is rated once. Each chunk waits
 * for room in the queue: a tenant can have more failed events than the queue holds, and a full queue refuses the new
 * events of all tenants.
 *
 * @param signal aborts when no client waits any more
 * @throws DomainError `shutting_down` after `signal` has aborted
 */
export async function reprocessEvents(
  deps: ReprocessDeps,
  project: ProjectRef,
  range: FailedEventRange,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  const db = new ProjectDb(deps.postgres.db, project);
  const scope = await deps.history.scopeOf(project);
  for await (const ids of failedEventIds(db, scope, range, REPROCESS_CHUNK_EVENTS_MAX)) {
    await waitForRoom(deps, project, signal);
    await deps.queue.append([reprocessRecord(project, ids, deps.clock.nowMs())]);
    count += ids.length;
  }
  return count;
}

async function waitForRoom(
  { room, pause: wait = pause }: ReprocessDeps,
  project: ProjectRef,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (await room.hasRoomToReprocess(project)) return;
    await wait(ROOM_PAUSE_MS, signal);
  }
  throw new DomainError('shutting_down');
}
