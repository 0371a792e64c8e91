import { type RawBuilder, sql } from 'kysely';
import type { PoolClient } from 'pg';
import { fenceOf, type ProcessLease } from '../../platform/leases/index.js';
import { DUE_NOW, lockKey, type Postgres } from '../../platform/postgres/index.js';
import type { BatchLocation } from './batch-store.js';
import type { RowStorage } from './turns.js';

/** Names the advisory lock that a projector of an earlier version holds; those of this version share it. */
const PROJECTOR_LOCK = 'tollgate-projector';
/** Names the advisory locks by which projectors hold groups; the id of the group is added. */
const GROUP_LOCK = 'tollgate-group';
/** Names the advisory lock under which projections get their positions. */
const POSITIONS_LOCK = 'tollgate-projections';
/** Upper bound of the begun groups that are considered; later ones are considered once these have ended. */
const BEGUN_GROUPS_MAX = 100;

/**
 * A project whose group changes more ranges than this is stored with one range around them, which bounds the size of
 * the row.
 */
const PROJECTION_SPANS_MAX = 64;
/** Streams that fall further behind than this must read everything again. */
const PROJECTIONS_KEPT_MS = 10 * 60_000;

/** A batch that waits to be projected, without its rows. */
export interface UnprojectedBatch {
  readonly id: number;
  readonly eventCount: number;
  readonly spoolFile: string | null;
  /** Bytes in the database; 0 for a batch in a file. */
  readonly columnBytes: number;
  readonly dedicatedTo: RowStorage;
}

/** Finds a row when a batch waits to be projected. */
export const waitingBatch = sql<number>`select ${DUE_NOW} from usage_batches order by insert_group limit 1`;

/** Returns when the oldest event of the batches that wait to be projected was received; undefined if none waits. */
export async function oldestUnprojectedMs({ pool }: Pick<Postgres, 'pool'>): Promise<number | undefined> {
  const { rows } = await pool.query<{ oldest: number | null }>(
    'select min(oldest_received_at_ms) as oldest from usage_batches',
  );
  return rows[0]?.oldest ?? undefined;
}

export interface GroupedBatch {
  readonly id: number;
  readonly eventCount: number;
  readonly location: BatchLocation;
}

/** Batches that are inserted into ClickHouse as one block, in the order of their ids. */
export interface ProjectionGroup {
  readonly group: number;
  readonly dedicatedTo: RowStorage;
  /** Identifies a repeated insert to ClickHouse. */
  readonly token: string;
  readonly batches: readonly GroupedBatch[];
}

/** Another projector has finished the batches of the group, or has put them into another group. */
export class GroupTakenError extends Error {}

interface BatchRow {
  readonly id: number;
  readonly event_count: number;
  readonly spool_file: string | null;
  readonly bytes: Buffer | null;
  readonly insert_token: string;
  readonly dedicated_to: RowStorage;
}

/**
 * The connection of a projector. All its statements use this connection, because it has the lock of the group that the
 * projector holds: when it is lost, another projector may hold the group, and this one can no longer write.
 */
export class ProjectorSession {
  readonly #client: PoolClient;
  readonly #db: Postgres['db'];

  private constructor(client: PoolClient, db: Postgres['db']) {
    this.#client = client;
    this.#db = db;
  }

  /** Returns undefined while a projector of an earlier version is active. */
  static async open({ pool, db }: Pick<Postgres, 'pool' | 'db'>): Promise<ProjectorSession | undefined> {
    const client = await pool.connect();
    // Without a listener, a connection that breaks between two queries would end the process. The next query fails
    // anyway.
    client.on('error', () => {});
    const session = new ProjectorSession(client, db);
    let isLocked = false;
    try {
      const [result] = await session.#run<{ locked: boolean }>(
        sql`select pg_try_advisory_lock_shared(${lockKey(PROJECTOR_LOCK)}) as locked`,
      );
      isLocked = result?.locked === true;
    } finally {
      if (!isLocked) client.release(true);
    }
    return isLocked ? session : undefined;
  }

  /** Releases all locks, so that other projectors get them at once, and closes the connection. */
  async close(): Promise<void> {
    try {
      await this.#client.query('select pg_advisory_unlock_all()');
    } catch {
      // The server releases the locks when the connection ends.
    } finally {
      this.#client.release(true);
    }
  }

  /**
   * Returns the oldest group that was formed, is not finished, is not in `heldBack`, and that no other projector holds.
   * This projector holds it until `leaveGroup`.
   *
   * @param shards the first batch of the group is of one of them
   */
  async begunGroup(
    shards: readonly number[],
    heldBack: readonly number[],
  ): Promise<ProjectionGroup | undefined> {
    const [begun] = await this.#run<{ id: number }>(sql`
      select id from (
        select id from usage_batches
        where insert_group = id and insert_group <> all(${heldBack}::bigint[]) and shard = any(${shards}::smallint[])
        order by id limit ${BEGUN_GROUPS_MAX}
      ) begun
      where pg_try_advisory_lock(${lockKey(GROUP_LOCK, sql`id`)}) limit 1
    `);
    if (begun === undefined) return undefined;
    const group = begun.id;
    // A separate statement, which sees whether the projector that had the lock before has finished the group.
    const { rows } = await this.#client.query<BatchRow>(
      `select id, event_count, spool_file, bytes, insert_token, dedicated_to from usage_batches
      where insert_group = $1 order by id`,
      [group],
    );
    if (rows.length > 0) return groupOf(group, rows);
    await this.leaveGroup(group);
    return this.begunGroup(shards, heldBack);
  }

  /** Returns the oldest batches of each storage that are in no group yet. */
  async waitingBatches(shards: readonly number[], limitPerStorage: number): Promise<UnprojectedBatch[]> {
    const { rows } = await this.#client.query<UnprojectedBatch>(
      `select id, event_count as "eventCount", spool_file as "spoolFile",
        coalesce(octet_length(bytes), 0) as "columnBytes", dedicated_to as "dedicatedTo"
      from (
        select *, row_number() over (partition by dedicated_to order by id) as place
        from usage_batches where insert_group is null and shard = any($2::smallint[])
      ) waiting
      where place <= $1 order by id`,
      [limitPerStorage, shards],
    );
    return rows;
  }

  /**
   * Joins batches to a group, permanently: a repeated insert must send the same block with the same token. Nothing
   * changes if one of them is already in a group, because that group may have been inserted. This projector holds the
   * group until `leaveGroup`.
   *
   * @param leases which give the batches to this projector
   * @returns undefined if another projector has one of the batches, or a lease was lost
   */
  async formGroup(
    ids: readonly [number, ...number[]],
    leases: readonly ProcessLease[],
  ): Promise<ProjectionGroup | undefined> {
    const [group] = ids;
    const rows = await this.#run<BatchRow>(sql`
      with lock as materialized (
        select pg_try_advisory_lock(${lockKey(GROUP_LOCK, group)}) as is_held
      ), free as materialized (
        select id from usage_batches where id = any(${ids}::bigint[]) and insert_group is null
        order by id for update
      )
      update usage_batches batch set insert_group = ${group} from free, lock
      where batch.id = free.id and lock.is_held and (select count(*) from free) = ${ids.length}
        and ${fenceOf(leases)}
      returning batch.id, event_count, spool_file, bytes, insert_token, dedicated_to
    `);
    if (rows.length > 0) return groupOf(group, rows);
    await this.leaveGroup(group);
    return undefined;
  }

  /**
   * Checks that the group is still in the hand of this projector. A process that was frozen can have lost it, and
   * others may have finished it so long ago that ClickHouse does not recognise a repeated insert any more.
   *
   * @throws GroupTakenError if another projector has finished it; the error of the connection if that was ended
   */
  async checkInHand({ group, batches }: ProjectionGroup): Promise<void> {
    const [result] = await this.#run<{ waiting: number }>(sql`
      select count(*)::integer as waiting from usage_batches where insert_group = ${group}
    `);
    if (result?.waiting !== batches.length) throw takenError(group);
  }

  /**
   * Finishes a group whose rows are in ClickHouse: deletes its batches and, in the same statement, stores the changed
   * ranges of each project for live charts. Old ranges are deleted except for the newest of them, which marks the point
   * after which no range is missing. Projectors take turns, from before the first position until the commit, so that
   * positions become visible in order.
   *
   * @throws GroupTakenError if another projector has finished it; then nothing changes
   */
  async endGroup({ group, batches }: ProjectionGroup, nowMs: number): Promise<void> {
    const [result] = await this.#run<{ deleted: number }>(sql`
      with whole as materialized (
        select id from usage_batches where insert_group = ${group} order by id for update
      ), ended as (
        delete from usage_batches batch using whole
        where batch.id = whole.id and (select count(*) from whole) = ${batches.length}
        returning project_ids, touched
      ), turn as materialized (
        select pg_advisory_xact_lock(${lockKey(POSITIONS_LOCK)}) from (select count(*) from ended) found
      ), recorded as (
        insert into projections (project_id, spans, at_ms)
        select project_id, case when (select count(*) from unnest(spans)) <= ${PROJECTION_SPANS_MAX} then spans
          else int8multirange(range_merge(spans)) end, ${nowMs}::bigint
        from turn cross join (
          select project_id, range_agg(changed_spans) as spans
          from ended cross join lateral unnest(project_ids, touched) as project (project_id, changed_spans)
          where not isempty(changed_spans)
          group by project_id
        ) changed
      ), forgotten as (
        delete from projections
        where position < (select max(position) from projections where at_ms <= ${nowMs - PROJECTIONS_KEPT_MS})
      )
      select count(*)::integer as deleted from ended
    `);
    if (result?.deleted !== batches.length) {
      throw takenError(group);
    }
  }

  /** Lets other projectors take a group, finished or not. */
  async leaveGroup(group: number): Promise<void> {
    await this.#run(sql`select pg_advisory_unlock(${lockKey(GROUP_LOCK, group)})`);
  }

  async #run<Row extends object>(statement: RawBuilder<unknown>): Promise<Row[]> {
    const { sql: text, parameters } = statement.compile(this.#db);
    return (await this.#client.query<Row>(text, [...parameters])).rows;
  }
}

function takenError(group: number): GroupTakenError {
  return new GroupTakenError(`another projector has finished the group ${group}`);
}

function groupOf(group: number, rows: readonly BatchRow[]): ProjectionGroup {
  const first = rows.find(({ id }) => id === group);
  if (first === undefined) throw new Error(`the group ${group} has lost its first batch`);
  const batches = rows.map(({ id, event_count, spool_file, bytes }) => ({
    id,
    eventCount: event_count,
    location: { spoolFile: spool_file, bytes },
  }));
  batches.sort((a, b) => a.id - b.id);
  return { group, dedicatedTo: first.dedicated_to, token: first.insert_token, batches };
}
