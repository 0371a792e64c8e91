import type { PoolClient } from 'pg';
import type { Postgres } from '../postgres/index.js';
import type { SegmentPlace } from './outside.js';
import { encodeSegment, recordBytes, type SegmentRecord } from './segment.js';

/** An append without a reply after this time counts as failed; its result is unknown. */
const APPEND_TIMEOUT_MS = 10_000;

/** Columns of an append, in the order of its parameters; the bytes come last. */
const SEGMENT_COLUMNS = [
  'shard',
  'received_at_ms',
  'event_count',
  'project_ids',
  'project_event_counts',
  'tenant_ids',
  'tenant_event_counts',
  'tenant_byte_counts',
  'byte_count',
  'file_name',
  'file_offset',
  'file_crc32',
  'bytes',
];

/** Returns the statement that appends this number of rows; its parameters begin at `$first`. */
export function appendFrom(first: number, rows: number, columns = SEGMENT_COLUMNS): string {
  const values = Array.from({ length: rows }, (_row, row) => {
    const start = first + row * columns.length;
    return `(${columns.map((_column, at) => `$${start + at}`).join(', ')})`;
  });
  return `insert into segments (${columns.join(', ')}) values ${values.join(', ')}`;
}

/** Appends one row of a deferred segment, which waits behind earlier requests of its tenant. */
export const DEFER = appendFrom(1, 1, [...SEGMENT_COLUMNS, 'deferred_tenant_id']);

/** A segment that is appended: the records of one shard. */
export interface NewSegment {
  /** The values of the columns, except those for the place of the bytes. */
  readonly counts: readonly unknown[];
  readonly pieces: readonly Buffer[];
}

export interface Append {
  /** The name under which PostgreSQL keeps the prepared statement. */
  readonly name: string;
  readonly text: string;
  readonly companionValues: readonly unknown[];
  readonly segments: readonly NewSegment[];
}

/** Executes an append whose bytes go to the rows themselves. */
export async function appendInRows(append: Append, connection: Postgres['pool'] | PoolClient): Promise<void> {
  await connection.query(
    queryOf(
      append,
      append.segments.map(({ pieces }) => inRow(Buffer.concat(pieces))),
    ),
  );
}

/** Like `appendInRows`, for bytes that are in a file or an object; takes one place for each segment. */
export async function appendPlaced(
  append: Append,
  places: readonly SegmentPlace[],
  connection: PoolClient,
): Promise<void> {
  await connection.query(queryOf(append, places.map(outside)));
}

function queryOf({ name, text, companionValues, segments }: Append, places: readonly (readonly unknown[])[]) {
  if (places.length !== segments.length)
    throw new Error(`${segments.length} segments, ${places.length} places`);
  const values = segments.flatMap(({ counts }, at) => [...counts, ...(places[at] ?? [])]);
  // `query_timeout` is a field of pg's queries that its types leave out.
  return { name, text, values: [...companionValues, ...values], query_timeout: APPEND_TIMEOUT_MS };
}

/** Returns all parameters of a segment whose bytes are in its row. */
export function wholeRow(shard: number, records: readonly SegmentRecord[]): unknown[] {
  return [shard, ...countsOf(records), ...inRow(encodeSegment(records))];
}

/** Returns the parameters for the place of a segment in its row. */
function inRow(bytes: Buffer): unknown[] {
  return [bytes.length, null, null, null, bytes];
}

/** Returns the parameters for the place of a segment in a file or an object. */
function outside({ byteCount, fileName, offset, crc32 }: SegmentPlace): unknown[] {
  return [byteCount, fileName, offset, crc32, null];
}

/**
 * Returns the columns of a segment's row that describe its records: the oldest arrival, the number of events, the
 * accepted events of each project, and the events and bytes of each tenant.
 */
export function countsOf(records: readonly SegmentRecord[]): unknown[] {
  let receivedAtMs = Number.POSITIVE_INFINITY;
  let eventCount = 0;
  const eventsByProject = new Map<string, number>();
  const byTenant = new Map<string, { events: number; bytes: number }>();
  for (const record of records) {
    const { projectId, tenantId } = record.scope;
    receivedAtMs = Math.min(receivedAtMs, record.receivedAtMs);
    eventCount += record.eventCount;
    // A reprocessed event was already accepted and counted.
    const accepted = record.scope.kind === 'reprocess' ? 0 : record.eventCount;
    eventsByProject.set(projectId, (eventsByProject.get(projectId) ?? 0) + accepted);
    const ofTenant = byTenant.get(tenantId);
    if (ofTenant === undefined) {
      byTenant.set(tenantId, { events: record.eventCount, bytes: recordBytes(record) });
    } else {
      ofTenant.events += record.eventCount;
      ofTenant.bytes += recordBytes(record);
    }
  }
  const tenants = [...byTenant.values()];
  return [
    receivedAtMs,
    eventCount,
    [...eventsByProject.keys()],
    [...eventsByProject.values()],
    [...byTenant.keys()],
    tenants.map(({ events }) => events),
    tenants.map(({ bytes }) => bytes),
  ];
}
