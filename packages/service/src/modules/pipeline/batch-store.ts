import { type RawBuilder, sql } from 'kysely';
import { fromStored, toText } from '../../kernel/decimal.js';
import type { Buffers } from '../../platform/buffers.js';
import { shareLockUntilCommit, type Tx, tryLockUntilCommit } from '../../platform/postgres/index.js';
import type { ChangedProject, ChangedRange, EventTotal, IngestTotal, UsageTotal } from './totals.js';

/** Names the advisory lock of spool files without a row: batches share it, and the sweep takes it exclusively. */
const SPOOL_LOCK = 'tollgate-spool';

/** A request to rate a failed event again. */
export interface EventReprocessRequest {
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
  readonly storage: 'shared' | 'dedicated';
  readonly idHex: string;
}

/** An event that could not be rated, as it is stored. */
export interface FailedEvent {
  readonly tenantId: string;
  readonly projectId: string;
  readonly idHex: string;
  readonly occurredAt: number;
  readonly receivedAtMs: number;
  readonly extractorRuleSetId: string;
  readonly failureCode: string;
  readonly attempt: number;
  readonly event: string;
  /** The correction that has given it back by a revert; empty if none has. */
  readonly correctionId: string;
}

/** A failed event that was removed from the table. */
export interface TakenFailedEvent extends FailedEvent {
  /** The number of corrections that it has had: its next attempt replaces the row of the same revision. */
  readonly corrections: number;
}

/** Returns the number of bytes of each requested failed event; 0 for an event that is not failed any more. */
export async function failedEventBytes(
  tx: Tx,
  requests: readonly EventReprocessRequest[],
): Promise<number[]> {
  const projectIds = requests.map(({ projectId }) => projectId);
  const ids = requests.map(({ idHex }) => idHex);
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(octet_length(f.event), 0) as bytes
    from unnest(${projectIds}::text[], ${ids}::uuid[]) with ordinality as r (project_id, raw_event_id, position)
    left join failed_events f on f.project_id = r.project_id and f.raw_event_id = r.raw_event_id
    order by r.position
  `.execute(tx);
  return rows.map(({ bytes }) => bytes);
}

/**
 * Removes the requested failed events and returns them; those that are not failed any more are left out. All workers
 * lock them in the same order.
 */
export async function takeFailedEvents(
  tx: Tx,
  requests: readonly EventReprocessRequest[],
): Promise<ReadonlyMap<EventReprocessRequest, TakenFailedEvent>> {
  const taken = new Map<EventReprocessRequest, TakenFailedEvent>();
  if (requests.length === 0) return taken;
  const projectIds = requests.map(({ projectId }) => projectId);
  const ids = requests.map(({ idHex }) => idHex);
  const { rows } = await sql<TakenFailedEvent & { position: number }>`
    with wanted as materialized (
      select f.ctid as place, r.position
      from unnest(${projectIds}::text[], ${ids}::uuid[]) with ordinality as r (project_id, raw_event_id, position)
      join failed_events f on f.project_id = r.project_id and f.raw_event_id = r.raw_event_id
      order by f.project_id, f.raw_event_id
      for update of f
    )
    delete from failed_events f using wanted where f.ctid = wanted.place
    returning wanted.position, f.tenant_id as "tenantId", f.project_id as "projectId",
      encode(uuid_send(f.raw_event_id), 'hex') as "idHex", f.occurred_at as "occurredAt",
      f.received_at_ms as "receivedAtMs", f.extractor_rule_set_id as "extractorRuleSetId",
      f.failure_code as "failureCode", f.attempt, f.event, f.correction_id as "correctionId",
      coalesce((
        select r.revision - 1 from usage_event_revisions r
        where r.project_id = f.project_id and r.raw_event_id = f.raw_event_id
      ), 0) as corrections
  `.execute(tx);
  for (const { position, ...event } of rows) {
    const request = requests[position - 1];
    if (request === undefined) throw new Error(`no request has position ${position}`);
    taken.set(request, event);
  }
  return taken;
}

/** Stores events that could not be rated. */
export async function insertFailedEvents(tx: Tx, events: readonly FailedEvent[]): Promise<void> {
  if (events.length === 0) return;
  const column = columnsOf(events);
  await sql`
    insert into failed_events (tenant_id, project_id, raw_event_id, occurred_at, received_at_ms,
      extractor_rule_set_id, failure_code, attempt, event, correction_id)
    select * from unnest(
      ${column((e) => e.tenantId)}::text[], ${column((e) => e.projectId)}::text[],
      ${column((e) => e.idHex)}::uuid[], ${column((e) => e.occurredAt)}::bigint[],
      ${column((e) => e.receivedAtMs)}::bigint[], ${column((e) => storable(e.extractorRuleSetId))}::text[],
      ${column((e) => e.failureCode)}::text[], ${column((e) => e.attempt)}::integer[],
      ${column((e) => storable(e.event))}::text[], ${column((e) => e.correctionId)}::text[])
  `.execute(tx);
}

/** PostgreSQL's text cannot contain U+0000. Valid JSON text has none, so this only alters unreadable text. */
function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** Adds a batch to the totals that ClickHouse is compared with. All three lists must be sorted by key. */
export async function addTotals(
  tx: Tx,
  usage: readonly UsageTotal[],
  events: readonly EventTotal[],
  ingest: readonly IngestTotal[],
): Promise<void> {
  await addUsageTotals(tx, usage);
  await addEventTotals(tx, events);
  await addIngestTotals(tx, ingest);
}

async function addUsageTotals(tx: Tx, totals: readonly UsageTotal[]): Promise<void> {
  if (totals.length === 0) return;
  const column = columnsOf(totals);
  await sql`
    insert into usage_totals as t
      (tenant_id, project_id, day, metric, unit, currency, item_count, quantity, amount, cost, cost_count)
    select * from unnest(
      ${column((t) => t.tenantId)}::text[], ${column((t) => t.projectId)}::text[],
      ${column((t) => t.day)}::integer[], ${column((t) => t.metric)}::text[],
      ${column((t) => t.unit)}::text[], ${column((t) => t.currency)}::text[],
      ${column((t) => t.itemCount)}::bigint[], ${column((t) => toText(fromStored(t.quantity)))}::numeric[],
      ${column((t) => toText(fromStored(t.amount)))}::numeric[],
      ${column((t) => toText(fromStored(t.cost)))}::numeric[], ${column((t) => t.costCount)}::bigint[])
    on conflict (project_id, day, metric, unit, currency) do update set
      item_count = t.item_count + excluded.item_count,
      quantity = t.quantity + excluded.quantity,
      amount = t.amount + excluded.amount,
      cost = t.cost + excluded.cost,
      cost_count = t.cost_count + excluded.cost_count
  `.execute(tx);
}

async function addEventTotals(tx: Tx, totals: readonly EventTotal[]): Promise<void> {
  if (totals.length === 0) return;
  const column = columnsOf(totals);
  await sql`
    insert into usage_event_totals as t
      (tenant_id, project_id, day, processed_count, failed_count, unpriced_count, voided_count, correction_count)
    select * from unnest(
      ${column((t) => t.tenantId)}::text[], ${column((t) => t.projectId)}::text[],
      ${column((t) => t.day)}::integer[], ${column((t) => t.processed)}::bigint[],
      ${column((t) => t.failed)}::bigint[], ${column((t) => t.unpriced)}::bigint[],
      ${column((t) => t.voided)}::bigint[], ${column((t) => t.corrections)}::bigint[])
    on conflict (project_id, day) do update set
      processed_count = t.processed_count + excluded.processed_count,
      failed_count = t.failed_count + excluded.failed_count,
      unpriced_count = t.unpriced_count + excluded.unpriced_count,
      voided_count = t.voided_count + excluded.voided_count,
      correction_count = t.correction_count + excluded.correction_count
  `.execute(tx);
}

async function addIngestTotals(tx: Tx, totals: readonly IngestTotal[]): Promise<void> {
  if (totals.length === 0) return;
  const column = columnsOf(totals);
  await sql`
    insert into ingest_totals as t
      (tenant_id, project_id, processed_count, failed_count, duplicate_count, voided_count)
    select * from unnest(
      ${column((t) => t.tenantId)}::text[], ${column((t) => t.projectId)}::text[],
      ${column((t) => t.processed)}::bigint[], ${column((t) => t.failed)}::bigint[],
      ${column((t) => t.duplicate)}::bigint[], ${column((t) => t.voided)}::bigint[])
    on conflict (project_id) do update set
      processed_count = t.processed_count + excluded.processed_count,
      failed_count = t.failed_count + excluded.failed_count,
      duplicate_count = t.duplicate_count + excluded.duplicate_count,
      voided_count = t.voided_count + excluded.voided_count
  `.execute(tx);
}

/** Where the rows of a batch are: exactly one field is set, as in `usage_batches`. */
export interface BatchLocation {
  readonly spoolFile: string | null;
  readonly bytes: Buffer | null;
}

/** Rows of a batch that go to the same tables. */
export interface BatchSection {
  /** The number of the project whose own tables take the rows; null for the shared tables. */
  readonly dedicatedTo: number | null;
  readonly eventCount: number;
  readonly itemCount: number;
  readonly projects: readonly ChangedProject[];
  /** Encoded, in pieces that share memory with the batch's block. */
  readonly rows: Buffers;
}

/** Encoded rows on their way to ClickHouse. */
export interface NewUsageBatch extends Omit<BatchSection, 'rows'> {
  /** The shard of the batch's oldest segment. Projectors share out batches by this shard. */
  readonly shard: number;
  readonly createdAtMs: number;
  readonly oldestReceivedAtMs: number;
  readonly byteCount: number;
  readonly location: BatchLocation;
  /** A correction has written the rows; see `StorageTurns.holdCorrections`. */
  readonly isCorrection: boolean;
}

export async function insertUsageBatch(tx: Tx, batch: NewUsageBatch): Promise<void> {
  const { location, projects } = batch;
  await sql`
    insert into usage_batches (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids,
      touched, first_days, last_day, dedicated_to, spool_file, bytes, shard, is_correction)
    values (${batch.createdAtMs}, ${batch.oldestReceivedAtMs}, ${batch.eventCount}, ${batch.itemCount},
      ${batch.byteCount}, ${projects.map(({ projectId }) => projectId)}::text[],
      ${projects.map(({ changed }) => multirangeOf(changed))}::int8multirange[],
      ${projects.map(({ firstDay }) => firstDay)}::integer[],
      ${Math.max(...projects.map(({ lastDay }) => lastDay))}, ${batch.dedicatedTo},
      ${location.spoolFile}, ${location.bytes}, ${batch.shard}, ${batch.isCorrection})
  `.execute(tx);
}

function multirangeOf(spans: readonly ChangedRange[]): string {
  return `{${spans.map(({ from, to }) => `[${from},${to})`).join(',')}}`;
}

/** An amount of rows on their way to ClickHouse. */
export interface UnprojectedSize {
  readonly bytes: number;
  readonly batches: number;
}

/** All rows on their way to ClickHouse. */
export interface UnprojectedRows {
  /** Those for the shared tables. */
  readonly shared: UnprojectedSize;
  /** Those for tables of single projects, by the tenant of the project. */
  readonly ownOf: ReadonlyMap<string, UnprojectedSize>;
}

export async function unprojectedRows(tx: Tx): Promise<UnprojectedRows> {
  const { rows } = await sql<UnprojectedSize & { readonly tenant_id: string | null }>`
    select p.tenant_id, sum(b.bytes)::bigint as bytes, sum(b.batches)::bigint as batches
    from (
      select dedicated_to, sum(byte_count) as bytes, count(*) as batches from usage_batches group by dedicated_to
    ) b
    left join projects p on p.no = b.dedicated_to
    group by p.tenant_id
  `.execute(tx);
  const ownOf = new Map<string, UnprojectedSize>();
  let shared: UnprojectedSize = { bytes: 0, batches: 0 };
  for (const { tenant_id: tenantId, ...size } of rows) {
    if (tenantId === null) shared = size;
    else ownOf.set(tenantId, size);
  }
  return { shared, ownOf };
}

/** Prevents sweeps until `tx` ends, so that a spool file may exist before the row that points at it. */
export async function holdSpool(tx: Tx): Promise<void> {
  await shareLockUntilCommit(tx, SPOOL_LOCK);
}

/**
 * Prevents new files without a row until `tx` ends, and returns true; returns false while a batch may have such a file.
 * It does not wait for that batch, because every later batch would then wait too, for ever if the process of that batch
 * is frozen.
 */
export async function tryLockSpool(tx: Tx): Promise<boolean> {
  return tryLockUntilCommit(tx, SPOOL_LOCK);
}

/** Returns those of `files` that a batch points at. */
export async function referencedSpoolFiles(tx: Tx, files: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ spool_file: string }>`
    select spool_file from usage_batches where spool_file = any(${files}::text[])
  `.execute(tx);
  return new Set(rows.map(({ spool_file }) => spool_file));
}

/** Returns whether the name of any spool file begins with `start`, which must contain no wildcard of LIKE. */
export async function hasSpoolFiles(tx: Tx, start: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from usage_batches where spool_file like ${`${start}%`}) as found
  `.execute(tx);
  return rows[0]?.found === true;
}

function columnsOf<T>(rows: readonly T[]): <V>(value: (row: T) => V) => RawBuilder<V[]> {
  return (value) => sql`${rows.map(value)}`;
}
