import type { PoolClient } from 'pg';
import { type Clock, systemClock } from '../../kernel/clock.js';
import { groupBy } from '../../kernel/maps.js';
import { shardOf } from '../../kernel/shard.js';
import { totalBytes } from '../buffers.js';
import { isBackupUnderWay, isServerError, type Postgres, type Tx } from '../postgres/index.js';
import {
  type Append,
  appendFrom,
  appendInRows,
  appendPlaced,
  countsOf,
  DEFER,
  type NewSegment,
  wholeRow,
} from './append.js';
import { claimSegments, claimTurn, MissingSegments, type OutsideBytes } from './claim.js';
import { deferredAmong, deferredChunks, executeRaw, nextDeferred } from './deferred.js';
import { type SegmentStore, SegmentWriteError } from './outside.js';
import type {
  Backlog,
  BacklogSize,
  ClaimedSegment,
  Companion,
  DeferredTurn,
  SegmentQueue,
  TurnChoice,
} from './queue.js';
import { type SegmentRecord, segmentPieces } from './segment.js';

/**
 * Minimum size of segments that go to a file or an object, where they are written and synced once. In rows they would
 * be written twice, and cut into pieces of 2 kB. For smaller segments, a second sync on the database's own disk costs
 * more.
 */
const OUTSIDE_BYTES_MIN = 64 * 1_024;
/**
 * Rows that would be written longer than this after their bytes are refused: the process was suspended. Objects without
 * a row are deleted at `UNUSED_AGE_MS`, which is much longer.
 */
const ROW_DELAY_MS_MAX = 3_600_000;

export interface SegmentQueueOptions {
  /** Minimum size of an append whose bytes go to the store; default `OUTSIDE_BYTES_MIN`. */
  readonly outsideBytesMin?: number;
  /** Returns the number of shards by which appended segments are grouped; default 1. */
  readonly shards?: () => number;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
  /** A clock that goes on while the machine is suspended. */
  readonly clock?: Clock;
}

/**
 * The usage queue in the `segments` table. With `store`, the bytes of large segments from clients are stored there,
 * unless the append is part of a longer transaction.
 */
export class PostgresSegmentQueue implements SegmentQueue<Tx> {
  readonly #postgres: Pick<Postgres, 'pool'>;
  readonly #outside: OutsideBytes;
  readonly #outsideBytesMin: number;
  readonly #shards: () => number;
  readonly #clock: Clock;

  constructor(postgres: Pick<Postgres, 'pool'>, store?: SegmentStore, options: SegmentQueueOptions = {}) {
    this.#postgres = postgres;
    const { outsideBytesMin = OUTSIDE_BYTES_MIN, shards = () => 1 } = options;
    this.#outside = { store, missing: new MissingSegments(options.nowMs ?? (() => performance.now())) };
    this.#outsideBytesMin = outsideBytesMin;
    this.#shards = shards;
    this.#clock = options.clock ?? systemClock;
  }

  /** Appends all `records` with one statement, and so one commit: one segment for each shard that has any. */
  async append(records: readonly SegmentRecord[]): Promise<void> {
    const segments = this.#segmentsOf(records);
    const append = {
      name: `append-segment-${segments.length}`,
      text: appendFrom(1, segments.length),
      companionValues: [],
      segments,
    };
    await appendInRows(append, this.#postgres.pool);
  }

  async appendWith(
    companion: Companion,
    records: readonly SegmentRecord[],
    client?: PoolClient,
  ): Promise<void> {
    const { name, text, values } = companion;
    const segments = this.#segmentsOf(records);
    const append = {
      name: `${name}-${segments.length}`,
      text: `with companion as (${text}) ${appendFrom(values.length + 1, segments.length)}`,
      companionValues: values,
      segments,
    };
    const { store } = this.#outside;
    const isLarge = totalBytes(segments.flatMap(({ pieces }) => pieces)) >= this.#outsideBytesMin;
    if (store !== undefined && isLarge && client === undefined) await this.#appendOutside(append, store);
    else await appendInRows(append, client ?? this.#postgres.pool);
  }

  async putBack(tx: Tx, records: readonly SegmentRecord[]): Promise<void> {
    const rows = this.#recordsByShard(records).map(([shard, some]) => wholeRow(shard, some));
    if (rows.length > 0) await executeRaw(tx, appendFrom(1, rows.length), rows.flat());
  }

  async defer(tx: Tx, records: readonly SegmentRecord[]): Promise<void> {
    for (const chunk of deferredChunks(records)) {
      for (const [shard, some] of this.#recordsByShard(chunk)) {
        await executeRaw(tx, DEFER, [...wholeRow(shard, some), some[0]?.scope.tenantId]);
      }
    }
  }

  deferredAmong(tx: Tx, tenantIds: readonly string[]): Promise<ReadonlySet<string>> {
    return deferredAmong(tx, tenantIds);
  }

  nextDeferred(tx: Tx, after: DeferredTurn, among: TurnChoice = {}): Promise<DeferredTurn | undefined> {
    return nextDeferred(tx, after, among);
  }

  claim(tx: Tx, eventsMax: number, shards?: readonly number[]): Promise<ClaimedSegment[]> {
    return claimSegments(tx, eventsMax, this.#outside, shards);
  }

  claimDeferred(tx: Tx, turn: DeferredTurn, eventsMax: number): Promise<ClaimedSegment[]> {
    return claimTurn(tx, eventsMax, this.#outside, turn);
  }

  async backlog(): Promise<Backlog> {
    const { rows } = await this.#postgres.pool.query<{
      segments: number;
      events: number;
      bytes: number;
      deferred: number;
      oldest: number | null;
    }>(
      `select count(*) as segments, coalesce(sum(event_count), 0)::bigint as events,
        coalesce(sum(byte_count), 0)::bigint as bytes, min(received_at_ms) as oldest,
        coalesce(sum(event_count) filter (where deferred_tenant_id is not null), 0)::bigint as deferred
      from segments`,
    );
    const row = rows[0];
    if (row === undefined) throw new Error('an aggregate returned no row');
    const { segments, events, bytes, deferred, oldest } = row;
    return { segments, events, bytes, deferredEvents: deferred, oldestReceivedAtMs: oldest ?? undefined };
  }

  async tenantsHolding({ events, bytes, segments }: BacklogSize): Promise<string[]> {
    const { rows } = await this.#postgres.pool.query<{ tenant_id: string }>(
      `select part.tenant_id from segments
        cross join lateral unnest(tenant_ids, tenant_event_counts, tenant_byte_counts)
          as part (tenant_id, event_count, byte_count)
      group by part.tenant_id
      having sum(part.event_count) >= $1::bigint or sum(part.byte_count) >= $2::bigint or count(*) >= $3::bigint`,
      [events, bytes, segments],
    );
    return rows.map((row) => row.tenant_id);
  }

  /** Deletes the files or objects of segments that have left the queue; none while a backup is under way. */
  async sweepStore(): Promise<void> {
    await this.#outside.store?.sweep(async (fileNames) => {
      const pointed = await this.pointedAt(fileNames);
      return (await isBackupUnderWay(this.#postgres)) ? new Set(fileNames) : pointed;
    });
  }

  /** Returns those of the files or objects at which segments point. */
  async pointedAt(fileNames: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.#postgres.pool.query<{ file_name: string }>(
      'select distinct file_name from segments where file_name = any($1)',
      [fileNames],
    );
    return new Set(rows.map((row) => row.file_name));
  }

  /**
   * Returns whether a segment is in a file or an object whose name begins with `start`, which must have no wildcard.
   */
  async hasOutside(start: string): Promise<boolean> {
    const { rows } = await this.#postgres.pool.query<{ found: boolean }>(
      'select exists (select from segments where file_name like $1) as found',
      [`${start}%`],
    );
    return rows[0]?.found === true;
  }

  #segmentsOf(records: readonly SegmentRecord[]): NewSegment[] {
    if (records.length === 0) throw new RangeError('an append needs at least one record');
    return this.#recordsByShard(records).map(([shard, some]) => ({
      counts: [shard, ...countsOf(some)],
      pieces: segmentPieces(some),
    }));
  }

  /** Groups records by the shards of their projects, in the order of the shards. */
  #recordsByShard(records: readonly SegmentRecord[]): [number, readonly SegmentRecord[]][] {
    const shards = this.#shards();
    if (shards === 1) return records.length === 0 ? [] : [[0, records]];
    const byShard = groupBy(records, ({ scope }) => shardOf(scope.projectNo, shards));
    return [...byShard].sort(([a], [b]) => a - b);
  }

  async #appendOutside(append: Append, store: SegmentStore): Promise<void> {
    const segments = append.segments.map(({ pieces }) => pieces);
    const startedMs = this.#clock.nowMs();
    await store.put(segments, async (places) => {
      const fileName = places[0]?.fileName ?? '';
      // Connecting is a separate step: after an error while sending, it is unknown whether the rows exist.
      const client = await this.#postgres.pool.connect().catch((cause: unknown) => {
        throw new SegmentWriteError(fileName, { cause });
      });
      let isUsable = false;
      try {
        if (this.#clock.nowMs() - startedMs > ROW_DELAY_MS_MAX) {
          const cause = new Error(`its row comes more than ${ROW_DELAY_MS_MAX} ms after its bytes`);
          throw new SegmentWriteError(fileName, { cause });
        }
        await appendPlaced(append, places, client);
        isUsable = true;
      } catch (error) {
        isUsable = isServerError(error);
        throw error;
      } finally {
        client.release(!isUsable);
      }
    });
  }
}
