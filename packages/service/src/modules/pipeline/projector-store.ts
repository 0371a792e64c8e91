import { type RawBuilder, sql } from 'kysely';
import type { PoolClient } from 'pg';
import { areViewsHalfReplaced, type ClickHouse } from '../../platform/clickhouse/index.js';
import { fenceOf, type ProcessLease } from '../../platform/leases/index.js';
import { DUE_NOW, lockKey, type Postgres } from '../../platform/postgres/index.js';
import { type ArchivedRows, groupEnd } from './group-end-store.js';
import {
  checkHistory,
  HistoryMismatchError,
  type ProjectionState,
  type RecordedGroupsStore,
} from './history-check.js';
import type { ProjectionGroup, RowStorage, UnprojectedBatch } from './turns.js';

/** Names the advisory lock that projectors share. While the history is rebuilt or repaired, it is held alone. */
export const PROJECTOR_LOCK = 'tollgate-projector';
/** Names the advisory locks by which projectors hold groups; the id of the group is added. */
export const GROUP_LOCK = 'tollgate-group';
/** Upper bound of the begun groups that are considered; later ones are considered once these have ended. */
const BEGUN_GROUPS_MAX = 100;

/** Finds a row when a batch waits to be projected. */
export const waitingBatch = sql<number>`select ${DUE_NOW} from usage_batches order by insert_group limit 1`;

/** Returns when the oldest event of the batches that wait to be projected was received; undefined if none waits. */
export async function oldestUnprojectedMs({ pool }: Pick<Postgres, 'pool'>): Promise<number | undefined> {
  const { rows } = await pool.query<{ oldest: number | null }>(
    'select min(oldest_received_at_ms) as oldest from usage_batches',
  );
  return rows[0]?.oldest ?? undefined;
}

const STATE = sql<ProjectionState>`
  select history_id as "historyId", last_formed as "lastFormed", last_ended as "lastEnded",
    rebuild_since_ms is not null as "isRebuilding"
  from projection_state`;

/** @throws HistoryMismatchError while no row is inserted into ClickHouse */
export async function checkStoresMatch(stores: {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly clickhouse: RecordedGroupsStore;
  /** Undefined if there is no archive, from which the history could be repaired. */
  readonly archive: object | undefined;
}): Promise<void> {
  const readState = async () => onlyState((await STATE.execute(stores.postgres.db)).rows);
  const state = await readState();
  if (state.isRebuilding) {
    throw new HistoryMismatchError(
      'The history is being rebuilt or repaired. If no such command runs, one was interrupted: start it again.',
      'rebuilding',
    );
  }
  const { clickhouse, archive } = stores;
  await checkHistory({ clickhouse, hasArchive: archive !== undefined }, state, readState);
}

/**
 * Everything that inserts rows checks the views before, while it holds the lock of the projectors.
 *
 * @param suffixes returns those of the tables of projects that have own ones
 * @throws Error if rows that are inserted now would be summed by former views and by those that replace them
 */
export async function checkViews(
  clickhouse: Pick<ClickHouse, 'upToDate'>,
  suffixes: () => Promise<readonly string[]>,
): Promise<void> {
  if (!(await areViewsHalfReplaced(await clickhouse.upToDate([]), suffixes))) return;
  throw new Error(
    'A process ended while it replaced the views of ClickHouse. Rows are not inserted until tollgate migrate has run, or a process starts that may change the schema.',
  );
}

function onlyState([state]: readonly ProjectionState[]): ProjectionState {
  if (state === undefined) throw new Error('the state of the projection is missing');
  return state;
}

/** Another projector has finished the batches of the group, or has put them into another group. */
export class GroupTakenError extends Error {}

interface BatchRow {
  readonly id: number;
  readonly event_count: number;
  readonly oldest_received_at_ms: number;
  readonly spool_file: string | null;
  readonly bytes: Buffer | null;
  readonly group_no: number | null;
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

  /**
   * Returns undefined while the history is rebuilt or repaired, or a projector of an earlier version is active.
   *
   * @param check rejects if the stores do not allow a session
   */
  static async open(
    { pool, db }: Pick<Postgres, 'pool' | 'db'>,
    check: (session: ProjectorSession, state: ProjectionState) => Promise<void>,
  ): Promise<ProjectorSession | undefined> {
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
    if (!isLocked) return undefined;
    try {
      const state = await session.state();
      if (!state.isRebuilding) {
        await check(session, state);
        return session;
      }
    } catch (error) {
      await session.close();
      throw error;
    }
    await session.close();
    return undefined;
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

  async state(): Promise<ProjectionState> {
    return onlyState(await this.#run<ProjectionState>(STATE));
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
      `select id, event_count, oldest_received_at_ms, spool_file, bytes, group_no, insert_token, dedicated_to from usage_batches
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
        coalesce(octet_length(bytes), 0) as "columnBytes", dedicated_to as "dedicatedTo", is_correction as "isCorrection"
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
   * @returns undefined if another projector has one of the batches, a lease was lost, or the history is rebuilt
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
      ), numbered as (
        update projection_state set last_formed = last_formed + 1 from lock
        where lock.is_held and (select count(*) from free) = ${ids.length} and ${fenceOf(leases)}
          and rebuild_since_ms is null
        returning last_formed
      )
      update usage_batches batch set insert_group = ${group}, group_no = numbered.last_formed from free, numbered
      where batch.id = free.id
      returning batch.id, event_count, oldest_received_at_ms, spool_file, bytes, group_no, insert_token, dedicated_to
    `);
    if (rows.length > 0) return groupOf(group, rows);
    await this.leaveGroup(group);
    return undefined;
  }

  /**
   * Checks that the group is still in the hand of this projector, for an insert. A process that was frozen can have
   * lost it: others may have finished it so long ago that ClickHouse does not recognise a repeated insert any more, or
   * the history may have been rebuilt.
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
   * Finishes a group whose rows are in ClickHouse: deletes its batches and, in the same statement, records the object
   * of the archive that has their rows, and stores the changed ranges of each project for live charts. Old ranges are
   * deleted except for the newest of them, which marks the point after which no range is missing. Projectors take
   * turns, from before the first position until the commit, so that positions become visible in order.
   *
   * @param archived undefined if the rows are not archived
   * @throws GroupTakenError if another projector has finished it; then nothing changes
   */
  async endGroup(ended: ProjectionGroup, archived: ArchivedRows | undefined, nowMs: number): Promise<void> {
    const [result] = await this.#run<{ deleted: number }>(groupEnd(ended, archived, nowMs));
    if (result?.deleted !== ended.batches.length) throw takenError(ended.group);
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
  const batches = rows.map(({ id, event_count, oldest_received_at_ms, spool_file, bytes }) => ({
    id,
    eventCount: event_count,
    oldestReceivedAtMs: oldest_received_at_ms,
    location: { spoolFile: spool_file, bytes },
  }));
  batches.sort((a, b) => a.id - b.id);
  const { group_no, dedicated_to, insert_token } = first;
  return { group, no: group_no ?? 0, dedicatedTo: dedicated_to, token: insert_token, batches };
}
