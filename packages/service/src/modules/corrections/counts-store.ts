import { sql } from 'kysely';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { Counter } from '../counters/index.js';
import { amountFromText, numericText } from '../ledger/index.js';
import type { TotalRule } from '../rules/index.js';
import { type ChangedPeriod, type Count, type CountSide, type PeriodCount, periodKey } from './count.js';

/** Stores counts of one part, and their periods. */
export async function insertCounts(
  db: ProjectDb,
  correctionId: string,
  partNo: number,
  counts: readonly PeriodCount[],
): Promise<void> {
  if (counts.length === 0) return;
  const periods = [...new Map(counts.map(({ period }) => [periodKey(period), period])).values()];
  const ofPeriod = <T>(value: (period: ChangedPeriod) => T) => periods.map(value);
  await db.change`
    insert into usage_correction_counters as c
      (tenant_id, project_id, correction_id, key, period_start, period_end, counter, first_part, last_part)
    select own.*, ${correctionId}, v.*, ${partNo}::integer, ${partNo}::integer
    from (select ${db.ownValues()}) own cross join unnest(${ofPeriod(({ key }) => key)}::bytea[],
      ${ofPeriod(({ startS }) => startS)}::bigint[], ${ofPeriod(({ endS }) => endS ?? null)}::bigint[],
      ${ofPeriod(({ counter: { scope: _scope, ...counter } }) => JSON.stringify(counter))}::json[]) as v
    on conflict (project_id, correction_id, key, period_start) do update set last_part = excluded.last_part,
      period_end = coalesce(c.period_end, excluded.period_end)`;
  const of = <T>(value: (count: PeriodCount['count'], period: ChangedPeriod) => T) =>
    counts.map(({ count, period }) => value(count, period));
  await db.change`
    insert into usage_correction_counts (tenant_id, project_id, correction_id, part_no, key, period_start, side,
      raw_event_id, item, quantity, value, rule, rated_at_ms, total_before, total_after, amount)
    select own.*, ${correctionId}, ${partNo}::integer, v.*
    from (select ${db.ownValues()}) own cross join unnest(${of((_, { key }) => key)}::bytea[],
      ${of((_, { startS }) => startS)}::bigint[], ${of(({ side }) => side)}::text[], ${of(({ eventId }) => eventId)}::uuid[],
      ${of(({ item }) => item)}::integer[], ${of(({ quantity }) => numericText(quantity))}::numeric[],
      ${of(({ value }) => value ?? null)}::text[], ${of(({ rule }) => JSON.stringify(rule))}::json[],
      ${of(({ ratedAtMs }) => ratedAtMs)}::bigint[], ${of(({ before }) => textOrNull(before))}::numeric[],
      ${of(({ after }) => textOrNull(after))}::numeric[], ${of(({ amount }) => numericText(amount))}::numeric[]) as v`;
}

function textOrNull(value: bigint | undefined): string | null {
  return value === undefined ? null : numericText(value);
}

type CountRow = Pick<Count, 'side' | 'eventId' | 'item' | 'partNo' | 'ratedAtMs' | 'isFailed' | 'isKept'> & {
  readonly value: string | null;
  readonly rule: TotalRule;
  readonly quantity: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly amount: string;
  readonly given: string;
};

const COUNT_COLUMNS = sql`e.side, encode(uuid_send(e.raw_event_id), 'hex') as "eventId", e.item, e.part_no as "partNo",
  e.quantity::text, e.value, e.rule, e.rated_at_ms as "ratedAtMs", e.total_before::text as "before", e.total_after::text as "after",
  e.amount::text, e.given::text, e.is_failed as "isFailed", e.is_kept as "isKept"`;

function countOf({ value, quantity, before, after, amount, given, ...row }: CountRow): Count {
  return {
    ...row,
    value: value ?? undefined,
    quantity: amountFromText(quantity),
    before: before === null ? undefined : amountFromText(before),
    after: after === null ? undefined : amountFromText(after),
    amount: amountFromText(amount),
    given: amountFromText(given),
  };
}

/** The counter of a count, without its project and its definition. */
export type CountOwner = Pick<Counter, 'subjectType' | 'subjectId' | 'accountId' | 'by'>;

/** A count with its counter, and the key of its period. */
export type KeyedCount = Count & { readonly periodKey: string; readonly owner: CountOwner };

/** Returns the counts of a part. */
export async function countsOfPart(
  db: ProjectDb,
  correctionId: string,
  partNo: number,
): Promise<KeyedCount[]> {
  const rows = await db.rows<CountRow & { key: Buffer; startS: number; owner: CountOwner }>`
    select ${COUNT_COLUMNS}, e.key, e.period_start as "startS", c.counter as owner
    from usage_correction_counts e
    join usage_correction_counters c on c.project_id = e.project_id and c.correction_id = e.correction_id
      and c.key = e.key and c.period_start = e.period_start
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.part_no = ${partNo}
    order by e.key, e.period_start, e.side, e.position`;
  return rows.map(({ key, startS, owner, ...row }) => ({
    ...countOf(row),
    periodKey: periodKey({ key, startS }),
    owner,
  }));
}

/**
 * Puts the counts of one side of a period in order. Items are put in by the time of their event, and taken out if rated
 * last first; items of equal time follow their totals, and one that changed nothing was rated after one that was
 * charged.
 */
export async function orderCounts(
  db: ProjectDb,
  correctionId: string,
  { key, startS }: ChangedPeriod,
  side: CountSide,
): Promise<void> {
  const isOfSide = db.part`${db.isOwn('e')} and e.correction_id = ${correctionId} and e.key = ${key}
    and e.period_start = ${startS} and e.side = ${side}`;
  await db.change`
    update usage_correction_counts e set position = o.position
    from (select e.raw_event_id, e.item, row_number() over (order by ${COUNT_ORDER[side]}) as position
      from usage_correction_counts e where ${isOfSide}) o
    where ${isOfSide} and e.raw_event_id = o.raw_event_id and e.item = o.item`;
}

/** Returns the items that a period puts in, as long as they are in no order. */
export async function countsWithoutOrder(
  db: ProjectDb,
  correctionId: string,
  { key, startS }: ChangedPeriod,
): Promise<Count[]> {
  const rows = await db.rows<CountRow>`
    select ${COUNT_COLUMNS} from usage_correction_counts e
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.key = ${key} and e.period_start = ${startS}
      and e.side = 'in' and e.position = 0`;
  return rows.map(countOf);
}

/** Gives items that a period puts in their positions, from 1 on. */
export async function writePositions(
  db: ProjectDb,
  correctionId: string,
  { key, startS }: ChangedPeriod,
  ordered: readonly Pick<Count, 'eventId' | 'item'>[],
): Promise<void> {
  await db.change`
    update usage_correction_counts e set position = v.position
    from unnest(${ordered.map(({ eventId }) => eventId)}::uuid[], ${ordered.map(({ item }) => item)}::integer[])
      with ordinality as v (raw_event_id, item, position)
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.key = ${key} and e.period_start = ${startS}
      and e.side = 'in' and e.raw_event_id = v.raw_event_id and e.item = v.item`;
}

const COUNT_ORDER = {
  out: sql`e.rated_at_ms desc, e.total_after desc, e.total_before desc, e.amount <> 0, e.raw_event_id desc, e.item desc`,
  in: sql`e.raw_event_id, e.item`,
} as const satisfies Record<CountSide, unknown>;

/** A page of the counts of a side, in their order or backwards, after a position. */
export interface CountPage {
  readonly side: CountSide;
  readonly isBackwards: boolean;
  readonly after: number | undefined;
  readonly max: number;
}

/** Returns the counts of a period that are not failed. */
export async function pageOfCounts(
  db: ProjectDb,
  correctionId: string,
  { key, startS }: ChangedPeriod,
  { side, isBackwards, after, max }: CountPage,
): Promise<(Count & { readonly position: number })[]> {
  const order = isBackwards ? sql`desc` : sql``;
  const next =
    after === undefined
      ? sql``
      : isBackwards
        ? sql`and e.position < ${after}`
        : sql`and e.position > ${after}`;
  const rows = await db.rows<CountRow & { position: number }>`
    select ${COUNT_COLUMNS}, e.position from usage_correction_counts e
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.key = ${key} and e.period_start = ${startS}
      and e.side = ${side} and not e.is_failed ${next}
    order by e.position ${order} limit ${max}`;
  return rows.map(({ position, ...row }) => ({ ...countOf(row), position }));
}

/**
 * Returns what the counts of a period put in, less what they give back.
 *
 * @param isKept whether those of events that stay as they are, or those of the events that parts change
 */
export async function sumOfCounts(
  db: ProjectDb,
  correctionId: string,
  { key, startS }: ChangedPeriod,
  { isKept }: Pick<Count, 'isKept'>,
): Promise<bigint> {
  const row = await db.row<{ sum: string }>`
    select coalesce(sum(case e.side when 'in' then e.amount else -e.given end), 0)::text as sum
    from usage_correction_counts e
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.key = ${key} and e.period_start = ${startS}
      and not e.is_failed and e.is_kept = ${isKept}`;
  return amountFromText(row?.sum ?? '');
}

/** Whether a correction leaves amounts on events, because taking their items out gives back other amounts. */
export async function leavesAmounts(db: ProjectDb, correctionId: string): Promise<boolean> {
  const row = await db.row<{ found: boolean }>`
    select exists (select from usage_correction_counts e
      where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.side = 'out' and not e.is_failed
        and e.given <> e.amount) as found`;
  return row?.found === true;
}

/** The result of counting an item. */
export type CountResult = Pick<Count, 'side' | 'eventId' | 'item' | 'amount' | 'given' | 'before' | 'after'>;

export async function writeResults(
  db: ProjectDb,
  correctionId: string,
  { key, startS }: ChangedPeriod,
  results: readonly CountResult[],
): Promise<void> {
  if (results.length === 0) return;
  await db.change`
    update usage_correction_counts e
    set amount = v.amount, given = v.given, total_before = v.total_before, total_after = v.total_after
    from unnest(${results.map(({ side }) => side)}::text[], ${results.map(({ eventId }) => eventId)}::uuid[],
      ${results.map(({ item }) => item)}::integer[], ${results.map(({ amount }) => numericText(amount))}::numeric[],
      ${results.map(({ given }) => numericText(given))}::numeric[], ${results.map(({ before }) => textOrNull(before))}::numeric[],
      ${results.map(({ after }) => textOrNull(after))}::numeric[])
      as v (side, raw_event_id, item, amount, given, total_before, total_after)
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.key = ${key} and e.period_start = ${startS}
      and e.side = v.side and e.raw_event_id = v.raw_event_id and e.item = v.item`;
}
