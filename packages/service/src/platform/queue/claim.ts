import { sql } from 'kysely';
import { BoundedMap } from '../../kernel/bounded-map.js';
import { mapAtOnce } from '../at-once.js';
import { DUE_NOW, type Tx, tryLockUntilCommit } from '../postgres/index.js';
import { isAmong } from './deferred.js';
import { checkPlaced, SegmentMissingError, type SegmentPlace, type SegmentStore } from './outside.js';
import type { ClaimedSegment, DeferredTurn } from './queue.js';
import { decodeSegment, SegmentFormatError } from './segment.js';

/** A claim ends at this many bytes too, so that large events cannot exhaust a worker's memory. */
const CLAIM_BYTES_MAX = 64 * 1_048_576;
/** Upper bound of the files or objects that a claim reads at the same time; a batch of small segments has hundreds. */
const READS_AT_ONCE = 32;
const CHUNK_ROWS_FIRST = 16;
const CHUNK_ROWS_MAX = 1_024;

/** Finds a row when a segment waits that is not deferred. */
export const newSegment = sql<number>`select ${DUE_NOW} from segments where deferred_tenant_id is null
  order by shard, id limit 1`;
/** Finds a row when a deferred segment waits. */
export const deferredSegment = sql<number>`select ${DUE_NOW} from segments where deferred_tenant_id is not null
  order by deferred_tenant_id limit 1`;

/** Prefix of the advisory locks of shards. Batches prefer shards whose lock they get; nothing else depends on it. */
const CLAIM_LOCK = 'tollgate-claim';

interface SegmentSize {
  readonly id: number;
  readonly received_at_ms: number;
  readonly event_count: number;
  readonly byte_count: number;
}

interface ClaimedRow {
  readonly id: number;
  readonly shard: number;
  readonly received_at_ms: number;
  readonly event_count: number;
  readonly project_ids: string[];
  readonly project_event_counts: number[];
  readonly byte_count: number;
  /** Either these three columns are set, or `bytes`. */
  readonly file_name: string | null;
  readonly file_offset: number | null;
  readonly file_crc32: number | null;
  readonly base64: string | null;
}

/** Time for which a segment whose bytes are missing is not claimed again, so that later segments are claimed. */
export const MISSING_RETRY_MS = 60_000;
/** With more, a lost store is more likely than lost objects: claims then fail until the bytes are back. */
const MISSING_SEGMENTS_MAX = 1_000;

/** Segments whose bytes were missing a short while ago. They stay in the queue. */
export class MissingSegments {
  readonly #nowMs: () => number;
  readonly #retryAtMs = new BoundedMap<number, number>(MISSING_SEGMENTS_MAX);

  /** @param nowMs a clock that never goes back */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  add(id: number): void {
    this.#retryAtMs.set(id, this.#nowMs() + MISSING_RETRY_MS);
  }

  /** Returns the segments that must not be tried yet. */
  ids(): number[] {
    const nowMs = this.#nowMs();
    for (const [id, retryAtMs] of this.#retryAtMs) if (retryAtMs <= nowMs) this.#retryAtMs.delete(id);
    return [...this.#retryAtMs].map(([id]) => id);
  }
}

/** The bytes of segments that are not in their rows. */
export interface OutsideBytes {
  /** Undefined if all bytes are in rows. */
  readonly store: SegmentStore | undefined;
  readonly missing: MissingSegments;
}

/** The segments from which a claim takes: those of a shard, or those of a turn of deferred segments. */
type SegmentSource = { readonly shard: number } | { readonly turn: DeferredTurn };

/**
 * Runs the SQL of `SegmentQueue.claim`. A claim that finds bytes missing fails as a whole; later ones leave these
 * segments out for a while.
 */
export async function claimSegments(
  tx: Tx,
  eventsMax: number,
  outside: OutsideBytes,
  shards: readonly number[] | undefined,
): Promise<ClaimedSegment[]> {
  const locked = new LockedSegments(tx, eventsMax, outside.missing.ids());
  const inUse: number[] = [];
  for (const shard of await waitingShards(tx, shards)) {
    if (!(await tryLockUntilCommit(tx, `${CLAIM_LOCK}-${shard}`))) inUse.push(shard);
    else await locked.add({ shard });
    if (locked.isHalfFull) break;
  }
  // Batches of one shard take turns at posting, so a shard that another batch has is only the second choice.
  for (const shard of inUse) {
    if (locked.ids.length > 0) break;
    await locked.add({ shard });
  }
  return takeSegments(tx, locked.ids, outside);
}

/** Runs the SQL of `SegmentQueue.claimDeferred`. */
export async function claimTurn(
  tx: Tx,
  eventsMax: number,
  outside: OutsideBytes,
  turn: DeferredTurn,
): Promise<ClaimedSegment[]> {
  const locked = new LockedSegments(tx, eventsMax, outside.missing.ids());
  await locked.add({ turn });
  return takeSegments(tx, locked.ids, outside);
}

/** Returns the shards with segments that are not deferred, the one with the oldest first. Reads one row of each. */
async function waitingShards(tx: Tx, shards: readonly number[] | undefined): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`
    with recursive waiting as (
      (select shard, id from segments where deferred_tenant_id is null order by shard, id limit 1)
      union all
      select next.* from waiting cross join lateral (
        select shard, id from segments where deferred_tenant_id is null and shard > waiting.shard
        order by shard, id limit 1
      ) as next
    )
    select shard from waiting where ${isAmong(shards)} order by id
  `.execute(tx);
  return rows.map(({ shard }) => shard);
}

/** Takes locked segments off the queue, and returns them in the order of their ids here. */
async function takeSegments(
  tx: Tx,
  ids: readonly number[],
  outside: OutsideBytes,
): Promise<ClaimedSegment[]> {
  if (ids.length === 0) return [];
  // Decoding base64 costs the client half the processor time of bytea's hexadecimal text.
  const { rows } = await sql<ClaimedRow>`
    delete from segments where id = any(${ids})
    returning id, shard, received_at_ms, event_count, project_ids, project_event_counts,
      byte_count, file_name, file_offset, file_crc32, encode(bytes, 'base64') as base64
  `.execute(tx);
  const places = new Map(ids.map((id, place) => [id, place]));
  const placeIn = ({ id }: ClaimedRow) => places.get(id) ?? Number.POSITIVE_INFINITY;
  rows.sort((a, b) => placeIn(a) - placeIn(b));
  const read = await mapAtOnce(rows, READS_AT_ONCE, async (row) => ({
    row,
    frame: await readFrame(row, outside),
  }));
  const segments: ClaimedSegment[] = [];
  for (const { row, frame } of read) segments.push(await decodeOrSetAside(tx, row, frame));
  return segments;
}

async function readFrame(row: ClaimedRow, { store, missing }: OutsideBytes): Promise<Buffer> {
  const place = placeOf(row);
  if (place === undefined) return Buffer.from(row.base64 ?? '', 'base64');
  if (store !== undefined) {
    return store.read(place).catch((error: unknown) => {
      if (error instanceof SegmentMissingError) missing.add(row.id);
      throw error;
    });
  }
  // The segment is not damaged, but cannot be reached: it must not be taken off the queue.
  throw new Error(
    `a segment is in ${place.fileName}, which is in an object store or in the data directory of an embedded database`,
  );
}

/**
 * Decodes a segment. One that cannot be read would be claimed again and again, and block all behind it, so it is moved
 * to another table.
 */
async function decodeOrSetAside(tx: Tx, row: ClaimedRow, frame: Buffer): Promise<ClaimedSegment> {
  const { id, shard, received_at_ms: receivedAtMs, event_count: eventCount } = row;
  const segment = { id, shard, receivedAtMs, eventCount };
  try {
    const place = placeOf(row);
    if (place !== undefined) checkPlaced(place, frame);
    return { ...segment, records: decodeSegment(frame) };
  } catch (error) {
    if (!(error instanceof SegmentFormatError)) throw error;
    await sql`
      insert into unreadable_segments
        (id, received_at_ms, event_count, project_ids, project_event_counts, problem, bytes)
      values (${row.id}, ${row.received_at_ms}, ${row.event_count}, ${row.project_ids},
        ${row.project_event_counts}, ${error.message}, ${frame})
    `.execute(tx);
    return { ...segment, records: [], problem: error };
  }
}

function placeOf({ file_name, file_offset, file_crc32, byte_count }: ClaimedRow): SegmentPlace | undefined {
  if (file_name === null || file_offset === null || file_crc32 === null) return undefined;
  return { fileName: file_name, offset: file_offset, crc32: file_crc32, byteCount: byte_count };
}

/** The segments that a claim has locked so far, up to its bounds. */
class LockedSegments {
  readonly ids: number[] = [];
  readonly #tx: Tx;
  readonly #eventsMax: number;
  readonly #withoutIds: readonly number[];
  #events = 0;
  #bytes = 0;

  /** @param withoutIds segments to leave out */
  constructor(tx: Tx, eventsMax: number, withoutIds: readonly number[]) {
    this.#tx = tx;
    this.#eventsMax = eventsMax;
    this.#withoutIds = withoutIds;
  }

  /** Whether more shards would make the batch too large, or would be locked for too long. */
  get isHalfFull(): boolean {
    return this.#events * 2 > this.#eventsMax || this.#bytes * 2 > CLAIM_BYTES_MAX;
  }

  /**
   * Locks the oldest segments of a source that no other worker holds. Rows are locked in chunks sized by what is still
   * wanted, because a row that is locked and not claimed is withheld from other workers.
   */
  async add(source: SegmentSource): Promise<void> {
    let last: SegmentSize | undefined;
    for (let chunkRows = CHUNK_ROWS_FIRST; ; chunkRows = this.#nextChunkRows()) {
      const rows = await lockChunk(this.#tx, {
        rowsMax: chunkRows,
        last,
        source,
        withoutIds: this.#withoutIds,
      });
      for (const row of rows) {
        if (!this.#fits(row) && this.ids.length > 0) return;
        this.ids.push(row.id);
        this.#events += row.event_count;
        this.#bytes += row.byte_count;
        last = row;
      }
      const isFull = this.#events >= this.#eventsMax || this.#bytes >= CLAIM_BYTES_MAX;
      if (rows.length < chunkRows || isFull) return;
    }
  }

  #fits({ event_count, byte_count }: SegmentSize): boolean {
    return this.#events + event_count <= this.#eventsMax && this.#bytes + byte_count <= CLAIM_BYTES_MAX;
  }

  /** Returns how many rows contain the events still wanted, at the average so far. */
  #nextChunkRows(): number {
    const wanted = Math.ceil(((this.#eventsMax - this.#events) * this.ids.length) / this.#events);
    return Math.max(1, Math.min(CHUNK_ROWS_MAX, wanted));
  }
}

interface Chunk {
  readonly rowsMax: number;
  /** The last segment of the previous chunk. */
  readonly last: SegmentSize | undefined;
  readonly source: SegmentSource;
  readonly withoutIds: readonly number[];
}

/** Deferred segments are ordered by arrival time, because a part that is put back gets a new id. */
async function lockChunk(tx: Tx, { rowsMax, last, source, withoutIds }: Chunk): Promise<SegmentSize[]> {
  // The bytes of deferred segments are in their rows.
  const without = withoutIds.length === 0 ? sql`` : sql`and id <> all(${withoutIds}::bigint[])`;
  const query =
    'shard' in source
      ? sql<SegmentSize>`
        select id, received_at_ms, event_count, byte_count from segments
        where deferred_tenant_id is null and shard = ${source.shard} and id > ${last?.id ?? 0} ${without}
        order by id limit ${rowsMax} for update skip locked`
      : sql<SegmentSize>`
        select id, received_at_ms, event_count, byte_count from segments
        where deferred_tenant_id = ${source.turn.tenantId} and shard = ${source.turn.shard}
          and (received_at_ms, id) > (${last?.received_at_ms ?? -1}::bigint, ${last?.id ?? 0}::bigint)
        order by received_at_ms, id limit ${rowsMax} for update skip locked`;
  return (await query.execute(tx)).rows;
}
