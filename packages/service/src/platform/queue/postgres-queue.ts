import type { PoolClient } from 'pg';
import { totalBytes } from '../buffers.js';
import { isServerError, type Postgres, type Tx } from '../postgres/index.js';
import { claimSegments } from './claim.js';
import { deferredAmong, deferredChunks, executeRaw, nextDeferredTenant } from './deferred.js';
import type { Backlog, BacklogSize, ClaimedSegment, Companion, SegmentQueue } from './queue.js';
import { encodeSegment, recordBytes, type SegmentRecord, segmentPieces } from './segment.js';
import { type SegmentFiles, SegmentWriteError } from './segment-files.js';

/** An append without a response after this time counts as failed: its result is unknown. */
const APPEND_TIMEOUT_MS = 10_000;

/**
 * From this size on a segment goes to a file, where it is written and synced once. In a row it would be written twice
 * and cut into pieces of 2 kB. Below this size, a second sync costs more.
 */
const IN_FILE_BYTES_MIN = 64 * 1_024;

/** Columns of an append, in the order of its parameters; the bytes come last. */
const SEGMENT_COLUMNS = [
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
const appendFrom = (first: number) => `insert into segments
  (${SEGMENT_COLUMNS.join(', ')})
  values (${SEGMENT_COLUMNS.map((_, at) => `$${first + at}`).join(', ')})`;
const APPEND = appendFrom(1);
/** As `APPEND`, with the tenant behind whose earlier requests the segment waits. */
const DEFER = `insert into segments (${SEGMENT_COLUMNS.join(', ')}, deferred_tenant_id)
  values (${[...SEGMENT_COLUMNS, ''].map((_, at) => `$${1 + at}`).join(', ')})`;

interface Append {
  readonly name: string;
  readonly text: string;
  /** All parameters except those for the place of the bytes. */
  readonly values: readonly unknown[];
  readonly pieces: readonly Buffer[];
}

/**
 * The usage queue in the `segments` table. With `files`, large segments from clients are stored there, unless the
 * append is part of a longer transaction.
 */
export class PostgresSegmentQueue implements SegmentQueue<Tx> {
  readonly #postgres: Pick<Postgres, 'pool'>;
  readonly #files: SegmentFiles | undefined;

  constructor(postgres: Pick<Postgres, 'pool'>, files?: SegmentFiles) {
    this.#postgres = postgres;
    this.#files = files;
  }

  /** Appends all `records` with one statement, and so one commit. */
  async append(records: readonly SegmentRecord[]): Promise<void> {
    const pieces = segmentPieces(records);
    const append = { name: 'append-segment', text: APPEND, values: countsOf(records), pieces };
    await appendInRow(append, this.#postgres.pool);
  }

  async appendWith(
    companion: Companion,
    records: readonly SegmentRecord[],
    client?: PoolClient,
  ): Promise<void> {
    const { name, text, values } = companion;
    const append = {
      name,
      text: `with companion as (${text}) ${appendFrom(values.length + 1)}`,
      values: [...values, ...countsOf(records)],
      pieces: segmentPieces(records),
    };
    const files = this.#files,
      postgres = this.#postgres;
    const isLarge = totalBytes(append.pieces) >= IN_FILE_BYTES_MIN;
    if (files !== undefined && isLarge && client === undefined) await this.#appendInFile(append, files);
    else await appendInRow(append, client ?? postgres.pool);
  }

  async putBack(tx: Tx, records: readonly SegmentRecord[]): Promise<void> {
    await executeRaw(tx, APPEND, rowOf(records));
  }

  async defer(tx: Tx, records: readonly SegmentRecord[]): Promise<void> {
    for (const chunk of deferredChunks(records)) {
      await executeRaw(tx, DEFER, [...rowOf(chunk), chunk[0]?.scope.tenantId]);
    }
  }

  deferredAmong(tx: Tx, tenantIds: readonly string[]): Promise<ReadonlySet<string>> {
    return deferredAmong(tx, tenantIds);
  }

  nextDeferredTenant(tx: Tx, after: string): Promise<string | undefined> {
    return nextDeferredTenant(tx, after);
  }

  claim(tx: Tx, eventsMax: number): Promise<ClaimedSegment[]> {
    return claimSegments(tx, eventsMax, this.#files);
  }

  claimDeferred(tx: Tx, tenantId: string, eventsMax: number): Promise<ClaimedSegment[]> {
    return claimSegments(tx, eventsMax, this.#files, tenantId);
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

  /** Deletes the files of segments that have left the queue. */
  async sweepFiles(): Promise<void> {
    await this.#files?.sweep(async (fileNames) => {
      const { rows } = await this.#postgres.pool.query<{ file_name: string }>(
        'select distinct file_name from segments where file_name = any($1)',
        [fileNames],
      );
      return new Set(rows.map((row) => row.file_name));
    });
  }

  async #appendInFile({ text, name, values, pieces }: Append, files: SegmentFiles): Promise<void> {
    // Connects first: after an error while sending, it is unknown whether a row points at the file.
    const client = await this.#postgres.pool.connect();
    let isUsable = true;
    try {
      await files.put(pieces, async ({ byteCount, fileName, offset, crc32 }) => {
        const all = [...values, byteCount, fileName, offset, crc32, null];
        // `query_timeout` is a field of pg's queries that its types leave out.
        const query = { name, text, values: all, query_timeout: APPEND_TIMEOUT_MS };
        await client.query(query);
      });
    } catch (error) {
      isUsable = isServerError(error) || error instanceof SegmentWriteError;
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }
}

async function appendInRow(
  { name, text, values, pieces }: Append,
  connection: Postgres['pool'] | PoolClient,
): Promise<void> {
  const all = [...values, ...inRow(totalBytes(pieces)), Buffer.concat(pieces)];
  // `query_timeout` is a field of pg's queries that its types leave out.
  const query = { name, text, values: all, query_timeout: APPEND_TIMEOUT_MS };
  await connection.query(query);
}

/** Returns all parameters of a segment whose bytes are in its row. */
function rowOf(records: readonly SegmentRecord[]): unknown[] {
  const bytes = encodeSegment(records);
  return [...countsOf(records), ...inRow(bytes.length), bytes];
}

/** Returns the parameters for the place of a segment in its row, without its bytes. */
function inRow(byteCount: number): unknown[] {
  return [byteCount, null, null, null];
}

/**
 * Returns the columns of a segment's row that describe its records: the oldest arrival, the number of events, the
 * accepted events of each project, and the events and bytes of each tenant.
 */
function countsOf(records: readonly SegmentRecord[]): unknown[] {
  if (records.length === 0) throw new RangeError('a segment needs at least one record');
  let receivedAtMs = Number.POSITIVE_INFINITY;
  let eventCount = 0;
  const eventsByProject = new Map<string, number>();
  const byTenant = new Map<string, { events: number; bytes: number }>();
  for (const record of records) {
    const { projectId, tenantId } = record.scope;
    receivedAtMs = Math.min(receivedAtMs, record.receivedAtMs);
    eventCount += record.eventCount;
    // A reprocessed event was accepted and counted before.
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
