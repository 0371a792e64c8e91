import { BoundedMap } from '../../kernel/bounded-map.js';
import { totalBytes } from '../buffers.js';
import { isAnswer, type Postgres, type Tx } from '../postgres/index.js';
import { claimSegments } from './claim.js';
import { deferredAmong, deferredChunks, executeRaw, nextDeferredTenant } from './deferred.js';
import {
  admitInOrder,
  chargeKey,
  type QuotaCharge,
  type QuotaRecord,
  type QuotaRefusal,
  quotaCharges,
} from './event-quota.js';
import type { Backlog, BacklogSize, ClaimedSegment, SegmentQueue } from './queue.js';
import { encodeSegment, type SegmentRecord, segmentPieces } from './segment.js';
import { countsOf } from './segment-counts.js';
import { type SegmentFiles, SegmentWriteError } from './segment-files.js';

/** An append without a response for so long counts as failed: its outcome is unknown. */
const APPEND_TIMEOUT_MS = 10_000;

/**
 * From so many bytes on a segment goes to a file: written and synced once, not written twice and cut into
 * pieces of 2 kB. Below, a second sync costs more.
 */
const IN_FILE_BYTES_MIN = 64 * 1_024;

/** Columns of an append, in the order of its parameters: the bytes come last. */
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
/** The same as `APPEND`, with the tenant whose earlier requests the segment waits for. */
const DEFER = `insert into segments (${SEGMENT_COLUMNS.join(', ')}, deferred_tenant_id)
  values (${[...SEGMENT_COLUMNS, ''].map((_, at) => `$${1 + at}`).join(', ')})`;

/** Counts, and appends, in one commit. A row that would pass its limit cannot be stored: then nothing is done. */
const APPEND_WITHIN_QUOTA = `with counted as (
  insert into event_quotas (tenant_id, month_start, used, event_limit)
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (tenant_id, month_start) do update
  set used = event_quotas.used + excluded.used, event_limit = excluded.event_limit
) ${appendFrom(5)}`;
const OVER_QUOTA = 'event_quotas_within_limit';
/** Upper bound of the quotas remembered as spent. */
const SPENT_QUOTAS_MAX = 10_000;

/** Locks quotas, in the order of their charges, and opens those of a new month. */
const LOCK_QUOTAS = `insert into event_quotas (tenant_id, month_start, used)
  select tenant_id, month_start, 0 from unnest($1::text[], $2::bigint[]) as asked (tenant_id, month_start)
  on conflict (tenant_id, month_start) do update set used = event_quotas.used
  returning tenant_id, month_start, used`;

interface Append {
  readonly name: string;
  readonly text: string;
  /** All parameters but those that say where the bytes are. */
  readonly values: readonly unknown[];
  readonly pieces: readonly Buffer[];
}

/**
 * The usage queue in the `segments` table. With `files`, large segments of clients' requests are stored there, unless a
 * quota has no room: then the requests are decided in one transaction, and all bytes stay in the row.
 */
export class PostgresSegmentQueue implements SegmentQueue<Tx> {
  private readonly spentQuotas = new BoundedMap<string, true>(SPENT_QUOTAS_MAX);

  constructor(
    private readonly postgres: Pick<Postgres, 'pool'>,
    private readonly files?: SegmentFiles,
  ) {}

  /** One statement, hence one commit, for all of `records`. */
  async append(records: readonly SegmentRecord[]): Promise<void> {
    const pieces = segmentPieces(records);
    await this.appendInRow({ name: 'append-segment', text: APPEND, values: countsOf(records), pieces });
  }

  async appendWithinQuota(records: readonly QuotaRecord[]): Promise<readonly QuotaRefusal[]> {
    const charges = quotaCharges(records);
    if (!this.isSpent(charges)) {
      try {
        const append = appendWithinQuota(records, charges);
        const { files } = this;
        const isLarge = totalBytes(append.pieces) >= IN_FILE_BYTES_MIN;
        await (files !== undefined && isLarge ? this.appendInFile(append, files) : this.appendInRow(append));
        return [];
      } catch (error) {
        if ((error as { constraint?: string }).constraint !== OVER_QUOTA) throw error;
      }
    }
    const refusals = await this.appendAdmitted(records, charges);
    this.noteSpent(records, charges, refusals);
    return refusals;
  }

  /** Whether some quota had no room lately: trying would mostly fail, and the server logs what fails. */
  private isSpent(charges: readonly QuotaCharge[]): boolean {
    if (this.spentQuotas.size === 0) return false;
    return charges.some(({ tenantId, monthStartS }) =>
      this.spentQuotas.has(chargeKey(tenantId, monthStartS)),
    );
  }

  private noteSpent(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
    refusals: readonly QuotaRefusal[],
  ): void {
    const refused = new Set(refusals.map(({ index }) => records[index]?.record.scope.tenantId));
    for (const { tenantId, monthStartS } of charges) {
      const key = chargeKey(tenantId, monthStartS);
      if (refused.has(tenantId)) this.spentQuotas.set(key, true);
      else this.spentQuotas.delete(key);
    }
  }

  /** If the quotas have no room for all, decides about each request by itself, with the quotas locked. */
  private async appendAdmitted(
    records: readonly QuotaRecord[],
    charges: readonly QuotaCharge[],
  ): Promise<readonly QuotaRefusal[]> {
    const client = await this.postgres.pool.connect();
    try {
      await client.query('begin');
      const values = [charges.map(({ tenantId }) => tenantId), charges.map(({ monthStartS }) => monthStartS)];
      const lock = { text: LOCK_QUOTAS, values, query_timeout: APPEND_TIMEOUT_MS };
      const { rows } = await client.query<{ tenant_id: string; month_start: number; used: number }>(lock);
      const used = new Map(rows.map((row) => [chargeKey(row.tenant_id, row.month_start), row.used]));
      const { admitted, refusals } = admitInOrder(records, charges, used);
      if (admitted.length > 0) {
        const { text, values, pieces } = appendWithinQuota(admitted, quotaCharges(admitted));
        const all = [...values, ...inRow(totalBytes(pieces)), Buffer.concat(pieces)];
        const append = { text, values: all, query_timeout: APPEND_TIMEOUT_MS };
        await client.query(append);
      }
      await client.query('commit');
      return refusals;
    } finally {
      // A connection that is still in its transaction, after an error, does not return to the pool.
      client.release();
    }
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
    return claimSegments(tx, eventsMax, this.files);
  }

  claimDeferred(tx: Tx, tenantId: string, eventsMax: number): Promise<ClaimedSegment[]> {
    return claimSegments(tx, eventsMax, this.files, tenantId);
  }

  async backlog(): Promise<Backlog> {
    const { rows } = await this.postgres.pool.query<{
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
    if (row === undefined) throw new Error('an aggregate without a row');
    const { segments, events, bytes, deferred, oldest } = row;
    return { segments, events, bytes, deferredEvents: deferred, oldestReceivedAtMs: oldest ?? undefined };
  }

  async tenantsHolding({ events, bytes, segments }: BacklogSize): Promise<string[]> {
    const { rows } = await this.postgres.pool.query<{ tenant_id: string }>(
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
    await this.files?.sweep(async (fileNames) => {
      const { rows } = await this.postgres.pool.query<{ file_name: string }>(
        'select distinct file_name from segments where file_name = any($1)',
        [fileNames],
      );
      return new Set(rows.map((row) => row.file_name));
    });
  }

  private async appendInRow({ name, text, values, pieces }: Append): Promise<void> {
    const all = [...values, ...inRow(totalBytes(pieces)), Buffer.concat(pieces)];
    // `query_timeout` is a field of pg's queries that its types leave out.
    const query = { name, text, values: all, query_timeout: APPEND_TIMEOUT_MS };
    await this.postgres.pool.query(query);
  }

  private async appendInFile({ text, name, values, pieces }: Append, files: SegmentFiles): Promise<void> {
    // Connected first: what could not be sent would leave its file in doubt.
    const client = await this.postgres.pool.connect();
    let isUsable = true;
    try {
      await files.put(pieces, async ({ byteCount, fileName, offset, crc32 }) => {
        const all = [...values, byteCount, fileName, offset, crc32, null];
        // `query_timeout` is a field of pg's queries that its types leave out.
        const query = { name, text, values: all, query_timeout: APPEND_TIMEOUT_MS };
        await client.query(query);
      });
    } catch (error) {
      isUsable = isAnswer(error) || error instanceof SegmentWriteError;
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }
}

function appendWithinQuota(records: readonly QuotaRecord[], charges: readonly QuotaCharge[]): Append {
  const segment = records.map(({ record }) => record);
  return {
    name: 'append-within-quota',
    text: APPEND_WITHIN_QUOTA,
    values: [...columnsOf(charges), ...countsOf(segment)],
    pieces: segmentPieces(segment),
  };
}

/** All parameters of a segment that is in its row. */
function rowOf(records: readonly SegmentRecord[]): unknown[] {
  const bytes = encodeSegment(records);
  return [...countsOf(records), ...inRow(bytes.length), bytes];
}

/** The parameters of a segment in its row, its bytes aside. */
function inRow(byteCount: number): unknown[] {
  return [byteCount, null, null, null];
}

function columnsOf(charges: readonly QuotaCharge[]): unknown[] {
  return [
    charges.map(({ tenantId }) => tenantId),
    charges.map(({ monthStartS }) => monthStartS),
    charges.map(({ eventCount }) => eventCount),
    charges.map(({ eventLimit }) => eventLimit),
  ];
}
