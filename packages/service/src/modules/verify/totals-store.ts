import { DAY_S } from '@tollgate/timezone';
import { type RawBuilder, sql } from 'kysely';
import { firstRawEventHex } from '../../kernel/id.js';
import { type Db, type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import { LAST_DAY_UNKNOWN } from '../storage/index.js';
import type { DaySpan, Measurement, ProjectDay } from './compare.js';
import { type ItemTotals, itemMeasurements } from './item-totals.js';

/** The recorded event ids of some days. */
export interface RecordedIds {
  readonly counts: readonly Measurement[];
  /** Sums of the last 48 bits of each id. */
  readonly sums: readonly Measurement[];
}

/** A batch that is committed and not in ClickHouse yet. */
export interface PendingBatch {
  readonly id: number;
  readonly projectIds: readonly string[];
}

/** The totals of some days in PostgreSQL, at one moment. */
export interface ExpectedTotals {
  /** Sums of charge items. */
  readonly items: Measurement[];
  /** Counts of events by status. */
  readonly events: Measurement[];
  readonly waiting: PendingBatch[];
}

interface EventTotals {
  readonly tenantId: string;
  readonly projectId: string;
  readonly day: number;
  readonly processed: number;
  readonly failed: number;
  readonly voided: number;
  /** Null until an earlier release's day is counted; stays null where its history was not kept until then. */
  readonly unpriced: number | null;
  readonly corrections: number;
}

const LAST_DAY = Math.floor(0xffff_ffff / DAY_S);
/** Upper bound of the time for which a verification that waits for its lock delays rating. */
const LOCK_WAIT_MS = 5_000;

/**
 * Runs `work` while no batch can be committed: every batch writes this table. Accepting events and copying committed
 * batches to ClickHouse continue.
 */
export function withRatingHeld<T>(postgres: Postgres, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(postgres, async (tx) => {
    await sql`set local lock_timeout = ${sql.raw(String(LOCK_WAIT_MS))}`.execute(tx);
    await sql`lock table usage_event_totals in share mode`.execute(tx);
    return work(tx);
  });
}

export async function readExpected(tx: Tx, span: DaySpan): Promise<ExpectedTotals> {
  const items = await sql<ItemTotals>`
    select tenant_id as "tenantId", project_id as "projectId", day, metric, unit, currency,
      item_count::text as "itemCount", quantity::text as quantity, amount::text as amount, cost::text as cost,
      cost_count::text as "costCount"
    from usage_totals where ${within(span)}
  `.execute(tx);
  const events = await sql<EventTotals>`
    select tenant_id as "tenantId", project_id as "projectId", day,
      processed_count as processed, failed_count as failed, voided_count as voided, unpriced_count as unpriced,
      correction_count as corrections
    from usage_event_totals where ${within(span)}
  `.execute(tx);
  const waiting = await readWaiting(tx);
  return {
    items: items.rows.flatMap(itemMeasurements),
    events: events.rows.flatMap(eventMeasurements),
    waiting,
  };
}

/** Batches that are not in ClickHouse yet. */
export async function readWaiting(tx: Tx): Promise<PendingBatch[]> {
  const { rows } = await sql<PendingBatch>`
    select id, project_ids as "projectIds" from usage_batches
  `.execute(tx);
  return rows;
}

/**
 * Counts the recorded event ids per day, and adds up their last 48 bits; those in blocks are read one by one. An id
 * begins with the event's time, so its day needs no other column. One statement reads both tables, because the
 * compaction moves ids between them.
 */
export async function readEventIds(tx: Tx, span: DaySpan): Promise<RecordedIds> {
  const { from, before } = idsWithin(span);
  const { rows } = await sql<DayCount & { readonly sum: string }>`
    select project.tenant_id as "tenantId", project.id as "projectId", found.day, found.count, found.sum
    from projects project
    cross join lateral (
      select ${DAY_OF_ID(sql`id`)} as day, count(*) as count,
        sum(('x' || right(id::text, 12))::bit(48)::bigint)::text as sum
      from (
        select raw_event_id as id from usage_event_ids
        where project_no = project.no and raw_event_id >= ${from}::uuid ${before(sql`raw_event_id`)}
        union all
        select member.id from usage_event_id_blocks block cross join unnest(block.ids) as member (id)
        where block.project_no = project.no and member.id >= ${from}::uuid ${before(sql`member.id`)}
          and block.first_id >= coalesce((
            select first_id from usage_event_id_blocks
            where project_no = project.no and first_id <= ${from}::uuid order by first_id desc limit 1
          ), ${from}::uuid) ${before(sql`block.first_id`)}
      ) recorded
      group by 1
    ) found
  `.execute(tx);
  return {
    counts: rows.map((row) => dayCount('event_count', row)),
    sums: rows.map((row) => ({ ...dayCount('event_id_sum', row), value: row.sum })),
  };
}

/** Sums the corrections that the revisions of events tell, per day. An id begins with the event's time. */
export async function countCorrections(tx: Tx, span: DaySpan): Promise<Measurement[]> {
  const { from, before } = idsWithin(span);
  const { rows } = await sql<DayCount>`
    select project.tenant_id as "tenantId", project.id as "projectId", found.day, found.count
    from projects project
    cross join lateral (
      select ${DAY_OF_ID(sql`raw_event_id`)} as day, sum(revision - 1)::bigint as count
      from usage_event_revisions
      where project_id = project.id and raw_event_id >= ${from}::uuid ${before(sql`raw_event_id`)}
      group by 1
    ) found
  `.execute(tx);
  return rows.map((row) => dayCount('correction_count', row));
}

/** Counts the failed events that can be rated again, per day. */
export async function countFailedEvents(tx: Tx, { from, to }: DaySpan): Promise<Measurement[]> {
  const { rows } = await sql<DayCount>`
    select project.tenant_id as "tenantId", project.id as "projectId", found.day, found.count
    from projects project
    cross join lateral (
      select occurred_at / ${DAY_S}::bigint as day, count(*) as count
      from failed_events
      where project_id = project.id and occurred_at >= ${from * DAY_S}::bigint and occurred_at < ${to * DAY_S}::bigint
      group by 1
    ) found
  `.execute(tx);
  return rows.map((row) => dayCount('failed_count', row));
}

/** A count of a project's day. */
interface DayCount extends ProjectDay {
  readonly count: number;
}

/** Returns the first id (32 hex digits) of a span of days, and the condition that an id is before its end. */
function idsWithin(span: DaySpan) {
  // The last day that an id can name ends with the last id.
  const upTo = span.to > LAST_DAY ? undefined : firstRawEventHex(span.to * DAY_S);
  return {
    from: firstRawEventHex(span.from * DAY_S),
    before: (id: RawBuilder<unknown>) => (upTo === undefined ? sql`` : sql`and ${id} < ${upTo}::uuid`),
  };
}

/** The day of an event's id, which begins with the event's time. */
const DAY_OF_ID = (id: RawBuilder<unknown>) =>
  sql`('x' || left(${id}::text, 8))::bit(32)::bigint / ${DAY_S}::bigint`;

function dayCount(
  measure: 'event_count' | 'event_id_sum' | 'correction_count' | 'failed_count',
  { tenantId, projectId, day, count }: DayCount,
): Measurement {
  return { tenantId, projectId, day, ...NO_METRIC, measure, value: String(count) };
}

/** Returns those of the batches that are not in ClickHouse yet. */
export async function stillPending(db: Db, batches: readonly PendingBatch[]): Promise<PendingBatch[]> {
  if (batches.length === 0) return [];
  const ids = batches.map(({ id }) => id);
  const { rows } = await sql<{ id: number }>`
    select id from usage_batches where id = any(${ids}::bigint[])
  `.execute(db);
  const left = new Set(rows.map(({ id }) => id));
  return batches.filter(({ id }) => left.has(id));
}

/** Every day that has totals, ascending. */
export async function daysWithTotals(db: Db): Promise<number[]> {
  const { rows } = await sql<{ day: number }>`
    select day from usage_totals union select day from usage_event_totals order by day
  `.execute(db);
  return rows.map(({ day }) => day);
}

const NO_METRIC = { metric: null, unit: null, currency: null } as const;

function eventMeasurements(totals: EventTotals): Measurement[] {
  const { processed, failed, voided, unpriced, corrections, ...day } = totals;
  const counted: Measurement[] = [
    { ...day, ...NO_METRIC, measure: 'processed_count', value: String(processed) },
    { ...day, ...NO_METRIC, measure: 'failed_count', value: String(failed) },
    ...(voided === 0
      ? []
      : [{ ...day, ...NO_METRIC, measure: 'voided_count' as const, value: String(voided) }]),
    ...(corrections === 0
      ? []
      : [{ ...day, ...NO_METRIC, measure: 'correction_count' as const, value: String(corrections) }]),
  ];
  if (unpriced === null) return counted;
  return [...counted, { ...day, ...NO_METRIC, measure: 'unpriced_count', value: String(unpriced) }];
}

function within({ from, to }: DaySpan): RawBuilder<unknown> {
  return sql`day >= ${from} and day < ${to}`;
}

/** Days of a project; both ends are included. */
export interface ProjectDays extends Pick<ProjectDay, 'projectId'> {
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Returns the days of batches that wait for ClickHouse, by project. */
export async function waitingDays(db: Db): Promise<ProjectDays[]> {
  const { rows } = await sql<ProjectDays>`
    select project_id as "projectId", min(coalesce(first_day, 0)) as "firstDay",
      coalesce(max(last_day), ${LAST_DAY_UNKNOWN}) as "lastDay"
    from usage_batches cross join lateral unnest(project_ids, first_days) as project (project_id, first_day)
    group by project_id
  `.execute(db);
  return rows;
}
