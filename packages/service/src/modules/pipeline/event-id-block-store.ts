import { sql } from 'kysely';
import { firstRawEventHex } from '../../kernel/id.js';
import {
  claimSweep,
  type Db,
  integerArray,
  type SweepClaim,
  type Tx,
  uuidArray,
} from '../../platform/postgres/index.js';

/**
 * Upper bound of the ids in a block. Four blocks of this size fill a page of 8 KiB; with the index they take 17.5 bytes
 * per id. Larger blocks save half a byte per id, and take longer to search.
 */
export const BLOCK_IDS_MAX = 120;

/** A project that has ids to compact. */
export interface OldIdProject {
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
}

/** Loose ids of one project that lie after the first id of a block and before the next block. */
export interface LooseIds {
  /** The first id of the block, as 32 hex digits; null if no block comes before the ids. */
  readonly block: string | null;
  /** The number of ids in the block. */
  readonly blockIds: number;
  /** The first and the last loose id. */
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

/** Claims the sweep if it is due. */
export function claimCompaction(db: Db, claim: SweepClaim): Promise<boolean> {
  return claimSweep(db, 'event_id_compaction', claim);
}

/**
 * Extends a claim, and locks it until `tx` ends, so that one transaction at a time changes blocks. Returns false when
 * another process has claimed the sweep.
 */
export async function holdCompaction(
  tx: Tx,
  { claimedUntilMs, untilMs }: Record<'claimedUntilMs' | 'untilMs', number>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update event_id_compaction set due_at_ms = ${untilMs} where due_at_ms = ${claimedUntilMs}
  `.execute(tx);
  return numAffectedRows === 1n;
}

/**
 * Returns whether the tenant of a project is moving between cells: its ids are not compacted then, because both tables
 * are being copied. No move begins until `tx` ends.
 */
export async function isMovingForStep(tx: Tx, projectNo: number): Promise<boolean> {
  await sql`lock table tenant_moves in share mode`.execute(tx);
  // A separate statement, so that its snapshot is later than the lock.
  const { rows } = await sql`
    select from projects join tenant_moves using (tenant_id) where no = ${projectNo}
  `.execute(tx);
  return rows.length > 0;
}

/** Ends a sweep, unless another process has claimed it. */
export async function finishCompaction(
  db: Db,
  { claimedUntilMs, sweptAtMs, dueAtMs }: Record<'claimedUntilMs' | 'sweptAtMs' | 'dueAtMs', number>,
): Promise<void> {
  await sql`
    update event_id_compaction set swept_at_ms = ${sweptAtMs}, due_at_ms = ${dueAtMs}
    where due_at_ms = ${claimedUntilMs}
  `.execute(db);
}

/** Returns when the last sweep was finished; null if none was. */
export async function lastCompactedAtMs(db: Db): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`
    select swept_at_ms as at from event_id_compaction
  `.execute(db);
  return rows[0]?.at ?? null;
}

/** Returns projects with loose ids of events before a time, in the order of tenants and projects. */
export async function projectsWithOldIds(
  db: Db,
  before: number,
  after: Pick<OldIdProject, 'tenantId' | 'projectId'>,
  limit: number,
): Promise<OldIdProject[]> {
  const { rows } = await sql<OldIdProject>`
    select tenant_id as "tenantId", id as "projectId", no as "projectNo" from projects project
    -- This limit makes it one descent of the index for each project. A plain "exists" could read all ids.
    cross join lateral (
      select from usage_event_ids
      where project_no = project.no and raw_event_id < ${firstRawEventHex(before)}::uuid limit 1
    ) old
    where (tenant_id, id) > (${after.tenantId}, ${after.projectId})
    order by tenant_id, id limit ${limit}
  `.execute(db);
  return rows;
}

/**
 * Returns the loose ids of a project by block, ascending: at most `limit` ids after `afterId` (32 hex digits) of events
 * before a time.
 */
export async function looseIds(
  tx: Tx,
  projectNo: number,
  { afterId, before, limit }: { readonly afterId: string; readonly before: number; readonly limit: number },
): Promise<LooseIds[]> {
  const { rows } = await sql<LooseIds>`
    select encode(uuid_send(block.first_id), 'hex') as block,
      coalesce(max(block.id_count), 0)::integer as "blockIds",
      encode(uuid_send((array_agg(loose.id order by loose.id))[1]), 'hex') as first,
      encode(uuid_send((array_agg(loose.id order by loose.id desc))[1]), 'hex') as last,
      count(*)::integer as count
    from (
      select raw_event_id as id from usage_event_ids
      where project_no = ${projectNo} and raw_event_id > ${afterId}::uuid
        and raw_event_id < ${firstRawEventHex(before)}::uuid
      order by raw_event_id limit ${limit}
    ) loose
    left join lateral (
      select first_id, cardinality(ids) as id_count from usage_event_id_blocks
      where project_no = ${projectNo} and first_id <= loose.id order by first_id desc limit 1
    ) block on true
    group by block.first_id order by (array_agg(loose.id order by loose.id))[1]
  `.execute(tx);
  return rows;
}

/**
 * Moves loose ids into blocks; each group is merged with the ids of its block. One statement deletes the rows that it
 * reads, and writes their ids. Returns the number of moved ids.
 */
export async function compactIds(tx: Tx, projectNo: number, groups: readonly LooseIds[]): Promise<number> {
  const merged = groups.filter(({ block }) => block !== null);
  const { rows } = await sql<{ moved: number }>`
    with moved as (
      delete from usage_event_ids loose
      using unnest(
        ${integerArray([...groups.keys()])}::integer[],
        ${uuidArray(groups.map(({ first }) => first))}::uuid[],
        ${uuidArray(groups.map(({ last }) => last))}::uuid[]) as range (group_no, first_id, last_id)
      where loose.project_no = ${projectNo} and loose.raw_event_id between range.first_id and range.last_id
      returning range.group_no, loose.raw_event_id as id
    ), replaced as (
      delete from usage_event_id_blocks block
      using unnest(
        ${integerArray(merged.map((group) => groups.indexOf(group)))}::integer[],
        ${uuidArray(merged.map(({ block }) => block as string))}::uuid[]) as range (group_no, first_id)
      where block.project_no = ${projectNo} and block.first_id = range.first_id
      returning range.group_no, block.ids
    ), members as (
      select group_no, id from moved
      union all
      select group_no, member.id from replaced cross join unnest(replaced.ids) as member (id)
    ), placed as (
      -- The ids of a group are divided equally among its blocks, so that none is tiny.
      select group_no, id, ntile(((size + ${BLOCK_IDS_MAX - 1}) / ${BLOCK_IDS_MAX})::integer)
        over (partition by group_no order by id) as place
      from (select group_no, id, count(*) over (partition by group_no) as size from members) sized
    ), written as (
      insert into usage_event_id_blocks (project_no, first_id, ids)
      select ${projectNo}, (array_agg(id order by id))[1], array_agg(id order by id)
      from placed group by group_no, place
    )
    select count(*) as moved from moved
  `.execute(tx);
  return rows[0]?.moved ?? 0;
}
