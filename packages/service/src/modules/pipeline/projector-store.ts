import { sql } from 'kysely';
import type { PoolClient } from 'pg';
import { DUE_NOW, type Postgres } from '../../platform/postgres/index.js';
import type { BatchLocation } from './batch-store.js';
import type { RowStorage } from './turns.js';

/** Names the advisory lock that the one active projector holds. */
const PROJECTOR_LOCK = 'tollgate-projector';

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

/**
 * The connection that holds the projector's lock. All statements use it: once it is lost, another projector may be
 * active, and this one cannot write any more.
 */
export class ProjectorSession {
  readonly #client: PoolClient;

  private constructor(client: PoolClient) {
    this.#client = client;
  }

  /** Returns undefined when another session holds the lock. */
  static async open(postgres: Pick<Postgres, 'pool'>): Promise<ProjectorSession | undefined> {
    const client = await postgres.pool.connect();
    // Without a listener, a connection that breaks between two queries would end the process. The next query fails
    // anyway.
    client.on('error', () => {});
    const session = new ProjectorSession(client);
    let isLocked = false;
    try {
      const { rows } = await client.query<{ locked: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
        [PROJECTOR_LOCK],
      );
      isLocked = rows[0]?.locked === true;
    } finally {
      if (!isLocked) client.release(true);
    }
    return isLocked ? session : undefined;
  }

  /**
   * Releases the lock, so that the next session gets it at once, and closes the connection; a broken connection has
   * lost the lock already.
   */
  async close(): Promise<void> {
    try {
      await this.#client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [PROJECTOR_LOCK]);
    } catch {
      // The server releases the lock when the connection ends.
    } finally {
      this.#client.release(true);
    }
  }

  /** Returns the oldest group that was formed and is not finished, except those of `heldBack`. */
  async begunGroup(heldBack: readonly number[]): Promise<ProjectionGroup | undefined> {
    const { rows } = await this.#client.query<{
      id: number;
      event_count: number;
      spool_file: string | null;
      bytes: Buffer | null;
      insert_group: number;
      insert_token: string;
      dedicated_to: RowStorage;
    }>(
      `select id, event_count, spool_file, bytes, insert_group, insert_token, dedicated_to from usage_batches
      where insert_group = (select min(insert_group) from usage_batches where insert_group <> all($1::bigint[]))
      order by id`,
      [heldBack],
    );
    const first = rows[0];
    if (first === undefined) return undefined;
    const batches = rows.map(({ id, event_count, spool_file, bytes }) => ({
      id,
      eventCount: event_count,
      location: { spoolFile: spool_file, bytes },
    }));
    return { group: first.insert_group, dedicatedTo: first.dedicated_to, token: first.insert_token, batches };
  }

  /** Returns the oldest batches of each storage that are in no group yet. */
  async waitingBatches(limitPerStorage: number): Promise<UnprojectedBatch[]> {
    const { rows } = await this.#client.query<UnprojectedBatch>(
      `select id, event_count as "eventCount", spool_file as "spoolFile",
        coalesce(octet_length(bytes), 0) as "columnBytes", dedicated_to as "dedicatedTo"
      from (
        select *, row_number() over (partition by dedicated_to order by id) as place
        from usage_batches where insert_group is null
      ) waiting
      where place <= $1 order by id`,
      [limitPerStorage],
    );
    return rows;
  }

  /** Joins batches to a group, permanently: a repeated insert must send the same block with the same token. */
  async formGroup(ids: readonly [number, ...number[]]): Promise<void> {
    const { rowCount } = await this.#client.query(
      'update usage_batches set insert_group = $1 where id = any($2::bigint[]) and insert_group is null',
      [ids[0], ids],
    );
    if (rowCount !== ids.length) throw new Error(`grouped ${rowCount} of ${ids.length} batches`);
  }

  /**
   * Finishes a group whose rows are in ClickHouse: deletes its batches and, in the same transaction, stores the changed
   * ranges of each project for live charts. Old ranges are deleted except for the newest of them, which marks the point
   * from which none is missing.
   */
  async endGroup({ group, batches }: ProjectionGroup, nowMs: number): Promise<void> {
    const { rows } = await this.#client.query<{ deleted: number }>(
      `with ended as (
        delete from usage_batches where insert_group = $1 returning project_ids, touched
      ), recorded as (
        insert into projections (project_id, spans, at_ms)
        select project_id, case when (select count(*) from unnest(spans)) <= $3 then spans
          else int8multirange(range_merge(spans)) end, $2
        from (
          select project_id, range_agg(changed_spans) as spans
          from ended cross join lateral unnest(project_ids, touched) as project (project_id, changed_spans)
          where not isempty(changed_spans)
          group by project_id
        ) changed
      ), forgotten as (
        delete from projections where position < (select max(position) from projections where at_ms <= $4)
      )
      select count(*)::integer as deleted from ended`,
      [group, nowMs, PROJECTION_SPANS_MAX, nowMs - PROJECTIONS_KEPT_MS],
    );
    const deleted = rows[0]?.deleted;
    if (deleted !== batches.length) throw new Error(`deleted ${deleted} of ${batches.length} batches`);
  }
}
