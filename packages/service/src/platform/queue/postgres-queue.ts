import { CompiledQuery, sql } from 'kysely';
import { type Postgres, queryWithPieces, type Tx } from '../postgres/index.js';
import {
  admitInOrder,
  chargeKey,
  type QuotaCharge,
  type QuotaRecord,
  type QuotaRefusal,
  quotaCharges,
} from './event-quota.js';
import type { Backlog, ClaimedSegment, SegmentQueue } from './queue.js';
import {
  decodeSegment,
  encodeSegment,
  SegmentFormatError,
  type SegmentRecord,
  segmentPieces,
} from './segment.js';

/** A claim ends at this many bytes too, so that large events cannot exhaust a worker's memory. */
const CLAIM_BYTES_MAX = 64 * 1_048_576;
/** Without an answer for so long, an append counts as failed: its outcome is unknown. */
const APPEND_TIMEOUT_MS = 10_000;

const CHUNK_ROWS_FIRST = 16;
const CHUNK_ROWS_MAX = 1_024;

const appendFrom = (first: number) => `insert into segments
  (received_at_ms, event_count, project_ids, project_event_counts, bytes)
  values (${[0, 1, 2, 3, 4].map((at) => `$${first + at}`).join(', ')})`;
const APPEND = appendFrom(1);

/** Counts, and appends, in one commit. A row that would pass its limit cannot be stored: then nothing is done. */
const APPEND_WITHIN_QUOTA = `with counted as (
  insert into event_quotas (tenant_id, month_start, used, event_limit)
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (tenant_id, month_start) do update
  set used = event_quotas.used + excluded.used, event_limit = excluded.event_limit
) ${appendFrom(5)}`;
const OVER_QUOTA = 'event_quotas_within_limit';
/** Past it, all are tried again. */
const SPENT_QUOTAS_MAX = 10_000;

/** Locks quotas, in the order of their charges, and opens those of a new month. */
const LOCK_QUOTAS = `insert into event_quotas (tenant_id, month_start, used)
  select tenant_id, month_start, 0 from unnest($1::text[], $2::bigint[]) as asked (tenant_id, month_start)
  on conflict (tenant_id, month_start) do update set used = event_quotas.used
  returning tenant_id, month_start, used`;

interface SegmentSize {
  readonly id: number;
  readonly event_count: number;
  readonly size_bytes: number;
}

interface ClaimedRow {
  readonly id: number;
  readonly received_at_ms: number;
  readonly event_count: number;
  readonly project_ids: string[];
  readonly project_event_counts: number[];
  readonly base64: string;
}

/** The usage queue in the `segments` table. */
export class PostgresSegmentQueue implements SegmentQueue<Tx> {
  private readonly spentQuotas = new Set<string>();

  constructor(private readonly postgres: Pick<Postgres, 'pool'>) {}

  /** One statement, hence one commit, for all of `records`. */
  async append(records: readonly SegmentRecord[]): Promise<void> {
    await queryWithPieces(this.postgres.pool, {
      name: 'append-segment',
      text: APPEND,
      values: countsOf(records),
      pieces: segmentPieces(records),
      timeoutMs: APPEND_TIMEOUT_MS,
    });
  }

  async appendWithinQuota(records: readonly QuotaRecord[]): Promise<readonly QuotaRefusal[]> {
    const charges = quotaCharges(records);
    if (!this.isSpent(charges)) {
      try {
        await queryWithPieces(this.postgres.pool, appendWithinQuota(records, charges));
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
      if (refused.has(tenantId)) this.spentQuotas.add(key);
      else this.spentQuotas.delete(key);
    }
    if (this.spentQuotas.size > SPENT_QUOTAS_MAX) this.spentQuotas.clear();
  }

  /** Where the quotas have no room for all, each request is decided by itself, while nobody else adds to them. */
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
        const { text, values, pieces, timeoutMs } = appendWithinQuota(admitted, quotaCharges(admitted));
        const append = { text, values: [...values, Buffer.concat(pieces)], query_timeout: timeoutMs };
        await client.query(append);
      }
      await client.query('commit');
      return refusals;
    } finally {
      // What is still in its transaction, because something failed, does not get back into the pool.
      client.release();
    }
  }

  async putBack(tx: Tx, records: readonly SegmentRecord[]): Promise<void> {
    await tx.executeQuery(CompiledQuery.raw(APPEND, [...countsOf(records), encodeSegment(records)]));
  }

  async claim(tx: Tx, eventsMax: number): Promise<ClaimedSegment[]> {
    const ids = await lockOldest(tx, eventsMax);
    if (ids.length === 0) return [];
    // As base64, because that costs the client half the processor time of bytea's hexadecimal text.
    const { rows } = await sql<ClaimedRow>`
      delete from segments where id = any(${ids})
      returning id, received_at_ms, event_count, project_ids, project_event_counts,
        encode(bytes, 'base64') as base64
    `.execute(tx);
    const segments: ClaimedSegment[] = [];
    for (const row of rows.sort((a, b) => a.id - b.id)) segments.push(await readOrSetAside(tx, row));
    return segments;
  }

  /** Reads no segment's bytes: their length is in the row's own TOAST pointer. */
  async backlog(): Promise<Backlog> {
    const { rows } = await this.postgres.pool.query<{
      segments: number;
      events: number;
      bytes: number;
      oldest: number | null;
    }>(
      `select count(*) as segments, coalesce(sum(event_count), 0)::bigint as events,
        coalesce(sum(octet_length(bytes)), 0)::bigint as bytes, min(received_at_ms) as oldest from segments`,
    );
    const row = rows[0];
    if (row === undefined) throw new Error('an aggregate without a row');
    const { segments, events, bytes, oldest } = row;
    return { segments, events, bytes, oldestReceivedAtMs: oldest ?? undefined };
  }
}

function appendWithinQuota(records: readonly QuotaRecord[], charges: readonly QuotaCharge[]) {
  const segment = records.map(({ record }) => record);
  return {
    name: 'append-within-quota',
    text: APPEND_WITHIN_QUOTA,
    values: [...columnsOf(charges), ...countsOf(segment)],
    pieces: segmentPieces(segment),
    timeoutMs: APPEND_TIMEOUT_MS,
  };
}

function columnsOf(charges: readonly QuotaCharge[]): unknown[] {
  return [
    charges.map(({ tenantId }) => tenantId),
    charges.map(({ monthStartS }) => monthStartS),
    charges.map(({ eventCount }) => eventCount),
    charges.map(({ eventLimit }) => eventLimit),
  ];
}

/** The values of a segment's row, its bytes aside. */
function countsOf(records: readonly SegmentRecord[]): unknown[] {
  if (records.length === 0) throw new RangeError('a segment needs at least one record');
  let receivedAtMs = Number.POSITIVE_INFINITY;
  let eventCount = 0;
  const eventsByProject = new Map<string, number>();
  for (const record of records) {
    const { projectId } = record.scope;
    receivedAtMs = Math.min(receivedAtMs, record.receivedAtMs);
    eventCount += record.eventCount;
    // What is rated anew was accepted and counted before.
    const accepted = record.scope.kind === 'reprocess' ? 0 : record.eventCount;
    eventsByProject.set(projectId, (eventsByProject.get(projectId) ?? 0) + accepted);
  }
  return [receivedAtMs, eventCount, [...eventsByProject.keys()], [...eventsByProject.values()]];
}

/** A segment that cannot be read would be claimed for ever, and stop all behind it: it is kept elsewhere. */
async function readOrSetAside(tx: Tx, row: ClaimedRow): Promise<ClaimedSegment> {
  const segment = { id: row.id, receivedAtMs: row.received_at_ms, eventCount: row.event_count };
  const bytes = Buffer.from(row.base64, 'base64');
  try {
    return { ...segment, records: decodeSegment(bytes) };
  } catch (error) {
    if (!(error instanceof SegmentFormatError)) throw error;
    await sql`
      insert into unreadable_segments
        (id, received_at_ms, event_count, project_ids, project_event_counts, problem, bytes)
      values (${row.id}, ${row.received_at_ms}, ${row.event_count}, ${row.project_ids},
        ${row.project_event_counts}, ${error.message}, ${bytes})
    `.execute(tx);
    return { ...segment, records: [], problem: error };
  }
}

/**
 * Locks the oldest segments that nobody else holds, up to the bounds. Rows are locked in chunks sized by what
 * is still wanted, because a lock taken on a row that is then left behind would keep it from other workers.
 */
async function lockOldest(tx: Tx, eventsMax: number): Promise<number[]> {
  const ids: number[] = [];
  let events = 0;
  let bytes = 0;
  let lastId = 0;
  for (let chunkRows = CHUNK_ROWS_FIRST; ; chunkRows = nextChunkRows(ids.length, events, eventsMax)) {
    const { rows } = await sql<SegmentSize>`
      select id, event_count, octet_length(bytes) as size_bytes from segments
      where id > ${lastId} order by id limit ${chunkRows} for update skip locked
    `.execute(tx);
    for (const row of rows) {
      const fits = events + row.event_count <= eventsMax && bytes + row.size_bytes <= CLAIM_BYTES_MAX;
      if (!fits && ids.length > 0) return ids;
      ids.push(row.id);
      events += row.event_count;
      bytes += row.size_bytes;
      lastId = row.id;
    }
    if (rows.length < chunkRows || events >= eventsMax || bytes >= CLAIM_BYTES_MAX) return ids;
  }
}

/** Rows that, at the size seen so far, hold the events still wanted. */
function nextChunkRows(rows: number, events: number, eventsMax: number): number {
  const wanted = Math.ceil(((eventsMax - events) * rows) / events);
  return Math.max(1, Math.min(CHUNK_ROWS_MAX, wanted));
}
