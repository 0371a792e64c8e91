import { sql } from 'kysely';
import { DUE_NOW, type Tx } from '../postgres/index.js';
import type { ClaimedSegment } from './queue.js';
import { decodeSegment, SegmentFormatError } from './segment.js';
import { checkPlaced, type SegmentFiles, type SegmentPlace } from './segment-files.js';

/** A claim ends at this many bytes too, so that large events cannot exhaust a worker's memory. */
const CLAIM_BYTES_MAX = 64 * 1_048_576;
const CHUNK_ROWS_FIRST = 16;
const CHUNK_ROWS_MAX = 1_024;

/** Finds a row when a segment waits that is not deferred. */
export const newSegment = sql<number>`select ${DUE_NOW} from segments where deferred_tenant_id is null
  order by id limit 1`;
/** Finds a row when a deferred segment waits. */
export const deferredSegment = sql<number>`select ${DUE_NOW} from segments where deferred_tenant_id is not null
  order by deferred_tenant_id limit 1`;

interface SegmentSize {
  readonly id: number;
  readonly received_at_ms: number;
  readonly event_count: number;
  readonly byte_count: number;
}

interface ClaimedRow {
  readonly id: number;
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

/**
 * Runs the SQL of `SegmentQueue.claim` and `claimDeferred`.
 *
 * @param files where the queue stores large segments in files
 * @param deferredTenantId the tenant of the deferred segments to claim; undefined for segments that are not deferred
 */
export async function claimSegments(
  tx: Tx,
  eventsMax: number,
  files: SegmentFiles | undefined,
  deferredTenantId?: string,
): Promise<ClaimedSegment[]> {
  const ids = await lockOldest(tx, eventsMax, deferredTenantId);
  if (ids.length === 0) return [];
  // Decoding base64 costs the client half the processor time of bytea's hexadecimal text.
  const { rows } = await sql<ClaimedRow>`
    delete from segments where id = any(${ids})
    returning id, received_at_ms, event_count, project_ids, project_event_counts,
      byte_count, file_name, file_offset, file_crc32, encode(bytes, 'base64') as base64
  `.execute(tx);
  const places = new Map(ids.map((id, place) => [id, place]));
  const placeIn = ({ id }: ClaimedRow) => places.get(id) ?? Number.POSITIVE_INFINITY;
  rows.sort((a, b) => placeIn(a) - placeIn(b));
  const read = await Promise.all(rows.map(async (row) => ({ row, frame: await readFrame(row, files) })));
  const segments: ClaimedSegment[] = [];
  for (const { row, frame } of read) segments.push(await decodeOrSetAside(tx, row, frame));
  return segments;
}

async function readFrame(row: ClaimedRow, files: SegmentFiles | undefined): Promise<Buffer> {
  const place = placeOf(row);
  if (place === undefined) return Buffer.from(row.base64 ?? '', 'base64');
  if (files !== undefined) return files.read(place);
  // The segment is not damaged, but out of reach: it must not be taken off the queue.
  throw new Error(`a segment is in the file ${place.fileName} of the data directory of an embedded database`);
}

/**
 * Decodes a segment. One that cannot be read would be claimed again and again, and block all behind it, so it is moved
 * to another table.
 */
async function decodeOrSetAside(tx: Tx, row: ClaimedRow, frame: Buffer): Promise<ClaimedSegment> {
  const segment = { id: row.id, receivedAtMs: row.received_at_ms, eventCount: row.event_count };
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

/**
 * Locks the oldest segments that no other worker holds, up to the bounds. Rows are locked in chunks sized by what is
 * still wanted, because a row that is locked and not claimed is withheld from other workers.
 */
async function lockOldest(
  tx: Tx,
  eventsMax: number,
  deferredTenantId: string | undefined,
): Promise<number[]> {
  const ids: number[] = [];
  let events = 0;
  let bytes = 0;
  let last: SegmentSize | undefined;
  for (let chunkRows = CHUNK_ROWS_FIRST; ; chunkRows = nextChunkRows(ids.length, events, eventsMax)) {
    const rows = await lockChunk(tx, chunkRows, last, deferredTenantId);
    for (const row of rows) {
      const fits = events + row.event_count <= eventsMax && bytes + row.byte_count <= CLAIM_BYTES_MAX;
      if (!fits && ids.length > 0) return ids;
      ids.push(row.id);
      events += row.event_count;
      bytes += row.byte_count;
      last = row;
    }
    if (rows.length < chunkRows || events >= eventsMax || bytes >= CLAIM_BYTES_MAX) return ids;
  }
}

/** Deferred segments are ordered by arrival time, because a part that is put back gets a new id. */
async function lockChunk(
  tx: Tx,
  rowsMax: number,
  last: SegmentSize | undefined,
  deferredTenantId: string | undefined,
): Promise<SegmentSize[]> {
  const query =
    deferredTenantId === undefined
      ? sql<SegmentSize>`
        select id, received_at_ms, event_count, byte_count from segments
        where deferred_tenant_id is null and id > ${last?.id ?? 0}
        order by id limit ${rowsMax} for update skip locked`
      : sql<SegmentSize>`
        select id, received_at_ms, event_count, byte_count from segments
        where deferred_tenant_id = ${deferredTenantId}
          and (received_at_ms, id) > (${last?.received_at_ms ?? -1}::bigint, ${last?.id ?? 0}::bigint)
        order by received_at_ms, id limit ${rowsMax} for update skip locked`;
  return (await query.execute(tx)).rows;
}

/** Returns how many rows contain the events still wanted, at the average so far. */
function nextChunkRows(rows: number, events: number, eventsMax: number): number {
  const wanted = Math.ceil(((eventsMax - events) * rows) / events);
  return Math.max(1, Math.min(CHUNK_ROWS_MAX, wanted));
}
