import { sql } from 'kysely';
import type { ProjectDb } from '../../platform/postgres/index.js';
import { secondsOfId, type UsageScope } from './event-store.js';

/** A selection of failed events, by their `occurred_at` in Unix seconds. */
export interface FailedEventRange {
  readonly from: number;
  readonly to: number;
  /** Only those that failed with this code. */
  readonly code: string | undefined;
}

/** The state of an event in PostgreSQL. */
export type EventState = 'failed' | 'processed' | 'absent';

interface Position {
  readonly occurred_at: number;
  readonly id: string;
}

/**
 * Returns the state of an event; one that was accepted but not rated yet, or is not kept any more, counts as absent.
 * `id`: 32 hex digits.
 */
export async function eventState(
  db: ProjectDb,
  { projectNo, retainedFrom }: Pick<UsageScope, 'projectNo' | 'retainedFrom'>,
  id: string,
): Promise<EventState> {
  if (secondsOfId(id) < retainedFrom) return 'absent';
  const row = await db.row<{ failed: boolean; known: boolean }>`
    select
      exists (
        select from failed_events
        where ${db.isOwn()} and raw_event_id = ${id}::uuid
      ) as failed,
      exists (
        select from usage_event_ids where project_no = ${projectNo} and raw_event_id = ${id}::uuid
      ) or exists (
        select from (
          select ids from usage_event_id_blocks
          where project_no = ${projectNo} and first_id <= ${id}::uuid order by first_id desc limit 1
        ) block where ${id}::uuid = any (block.ids)
      ) as known`;
  if (row?.failed === true) return 'failed';
  return row?.known === true ? 'processed' : 'absent';
}

/** Yields ids (32 hex digits) of failed events in chunks of at most `chunkIds`, oldest event first. */
export async function* failedEventIds(
  db: ProjectDb,
  { retainedFrom }: Pick<UsageScope, 'retainedFrom'>,
  { from, to, code }: FailedEventRange,
  chunkIds: number,
): AsyncGenerator<string[]> {
  let after: Position = { occurred_at: Math.max(from, retainedFrom), id: '0'.repeat(32) };
  while (true) {
    // The all-zero id sorts before every real one, so the first page needs no condition of its own.
    const rows = await db.rows<Position>`
      select occurred_at, encode(uuid_send(raw_event_id), 'hex') as id from failed_events
      where ${db.isOwn()} and occurred_at < ${to}
        and (occurred_at, raw_event_id) > (${after.occurred_at}::bigint, ${after.id}::uuid)
        ${code === undefined ? sql`` : sql`and failure_code = ${code}`}
      order by occurred_at, raw_event_id limit ${chunkIds}`;
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => row.id);
    if (rows.length < chunkIds) return;
    after = last;
  }
}
