import { sql } from 'kysely';
import { type Db, lockKey, type Tx } from '../../platform/postgres/index.js';
import { GROUP_LOCK } from '../pipeline/index.js';

const ROWS_PER_PAGE = 1_000;

interface ReceivedEvents {
  /** Number of the segment. */
  readonly id: number;
  readonly receivedAtMs: number;
  readonly eventCount: number;
  readonly projectIds: readonly string[];
  readonly eventCounts: readonly number[];
}

/** A segment whose bytes are in an object. */
export interface OutsideSegment extends ReceivedEvents {
  readonly objectKey: string;
  readonly offset: number;
}

/** A segment that was set aside with its bytes, because they could not be decoded. */
export interface UnreadableSegment extends ReceivedEvents {
  readonly problem: string;
}

/** A batch whose rows are in a file or an object. */
export interface OutsideBatch {
  readonly id: number;
  readonly objectKey: string;
  readonly receivedAtMs: number;
  readonly eventCount: number;
  readonly projectIds: readonly string[];
  /** The first day of each project; empty if they are not known. */
  readonly firstDays: readonly number[];
  readonly lastDay: number | null;
}

/** Returns every segment in an object, in the order of their ids. */
export async function* outsideSegments(db: Db): AsyncGenerator<OutsideSegment> {
  yield* pages(async (afterId) => {
    const { rows } = await sql<OutsideSegment>`
      select id, file_name as "objectKey", file_offset as offset, received_at_ms as "receivedAtMs",
        event_count as "eventCount", project_ids as "projectIds", project_event_counts as "eventCounts"
      from segments where file_name is not null and id > ${afterId} order by id limit ${ROWS_PER_PAGE}
    `.execute(db);
    return rows;
  });
}

/** Returns every segment that was set aside, in the order of their ids. */
export async function* unreadableSegments(db: Db): AsyncGenerator<UnreadableSegment> {
  yield* pages(async (afterId) => {
    const { rows } = await sql<UnreadableSegment>`
      select id, problem, received_at_ms as "receivedAtMs", event_count as "eventCount",
        project_ids as "projectIds", project_event_counts as "eventCounts"
      from unreadable_segments where id > ${afterId} order by id limit ${ROWS_PER_PAGE}
    `.execute(db);
    return rows;
  });
}

/** Returns every batch whose rows wait in a file or an object, in the order of their ids. */
export async function* outsideBatches(db: Db): AsyncGenerator<OutsideBatch> {
  yield* pages(async (afterId) => {
    const { rows } = await sql<OutsideBatch>`
      select id, spool_file as "objectKey", oldest_received_at_ms as "receivedAtMs", event_count as "eventCount",
        project_ids as "projectIds", first_days as "firstDays", last_day as "lastDay"
      from usage_batches where spool_file is not null and id > ${afterId} order by id limit ${ROWS_PER_PAGE}
    `.execute(db);
    return rows;
  });
}

async function* pages<Row extends { readonly id: number }>(
  read: (afterId: number) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let afterId = 0; ; ) {
    const rows = await read(afterId);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}

/** Whether a segment still waits. Its object is deleted only after it has left the queue. */
export async function hasSegment(db: Db, id: number): Promise<boolean> {
  const { rows } = await sql`select from segments where id = ${id}`.execute(db);
  return rows.length > 0;
}

/** Whether a batch still waits. Its object is deleted only after the batch. */
export async function hasBatch(db: Db, id: number): Promise<boolean> {
  const { rows } = await sql`select from usage_batches where id = ${id}`.execute(db);
  return rows.length > 0;
}

/** Takes a segment off the queue. Returns whether it was there. */
export async function dropSegment(tx: Tx, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from segments where id = ${id}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Removes a segment that was set aside. Returns whether it was there. */
export async function dropUnreadable(tx: Tx, id: number): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from unreadable_segments where id = ${id}`.execute(tx);
  return numAffectedRows === 1n;
}

/**
 * Removes a batch, also from its group, while no projector has the group. A group whose first batch goes away gets the
 * name of the next one, and keeps its number and token: some of it may have been inserted before.
 *
 * @returns whether the batch was there, and in the same group all the time
 */
export async function dropBatch(tx: Tx, id: number): Promise<boolean> {
  const { rows } = await sql<{ group: number | null }>`
    select insert_group as "group" from usage_batches where id = ${id}
  `.execute(tx);
  const [batch] = rows;
  if (batch === undefined) return false;
  const { group } = batch;
  if (group !== null) await sql`select pg_advisory_xact_lock(${lockKey(GROUP_LOCK, group)})`.execute(tx);
  const dropped = await sql<{ token: string }>`
    delete from usage_batches where id = ${id} and insert_group is not distinct from ${group}::bigint
    returning insert_token as token
  `.execute(tx);
  const token = dropped.rows[0]?.token;
  if (token === undefined) return false;
  if (group === id) {
    await sql`
      update usage_batches batch
      set insert_group = next.id, insert_token = case when batch.id = next.id then ${token}::uuid else insert_token end
      from (select min(id) as id from usage_batches where insert_group = ${group}) next
      where batch.insert_group = ${group}
    `.execute(tx);
  }
  return true;
}
