import { type RawBuilder, sql } from 'kysely';
import type { ProjectDb } from '../../platform/postgres/index.js';
import { type CountedProject, type Counter, keepsValues } from '../counters/index.js';
import { amountFromText, numericText } from '../ledger/index.js';
import type { TotalRule } from '../rules/index.js';
import type { ChangedPeriod, CountSide } from './count.js';

/** The state that a part expects of a period. Decimals × 10^18. */
export interface ExpectedState {
  readonly quantity: bigint;
  readonly amount: bigint;
  readonly itemCount: number;
  /** How often corrections have changed its values; undefined in plans of former releases. */
  readonly correctionCount: number | undefined;
}

/** A period of a correction, as it is stored. */
export interface StoredPeriod extends ChangedPeriod {
  readonly firstPart: number | null;
  readonly lastPart: number | null;
  readonly expected: ExpectedState;
  /** How often corrections have changed its values until now. */
  readonly correctionCount: number;
  /**
   * Whether usage or another correction has changed it since the plan, or an event that stays as it is would cost
   * something else now: then the last part closes it. When all parts are applied: whether usage between them has cost
   * something else than without them.
   */
  readonly isMoved: boolean;
  /** By how much the parts so far have changed the price of the total; undefined if that is not known. */
  readonly priceChange: bigint | undefined;
  /** The last part has added this to the planned amounts. */
  readonly closingAmount: bigint;
  /** The rule whose price of the total usage between the parts has; null if one part makes all changes. */
  readonly rule: TotalRule | null;
}

type StoredCounter = Omit<Counter, 'scope'>;

interface PeriodRow {
  readonly key: Buffer;
  readonly startS: number;
  readonly endS: number | null;
  readonly counter: StoredCounter;
  readonly firstPart: number | null;
  readonly lastPart: number | null;
  readonly quantity: string;
  readonly amount: string;
  readonly itemCount: number;
  readonly expectedCorrections: number | null;
  readonly correctionCount: number;
  readonly isMoved: boolean;
  readonly priceChange: string | null;
  readonly closingAmount: string;
  readonly rule: TotalRule | null;
}

/** Items are taken out last rated first: the first rule is the latest. */
function ruleOf(side: CountSide): RawBuilder<TotalRule | null> {
  return sql`(select e.rule from usage_correction_counts e where e.project_id = c.project_id
    and e.correction_id = c.correction_id and e.key = c.key and e.period_start = c.period_start and e.side = ${sql.lit(side)}
    order by e.position limit 1)`;
}

const PERIOD_COLUMNS = sql`c.key, c.period_start as "startS", coalesce(c.period_end, u.period_end) as "endS", c.counter,
  c.first_part as "firstPart", c.last_part as "lastPart", c.quantity::text, c.amount::text, c.item_count as "itemCount",
  c.correction_count as "expectedCorrections", coalesce(u.correction_count, 0) as "correctionCount",
  c.is_moved as "isMoved", c.price_change::text as "priceChange", c.closing_amount::text as "closingAmount",
  case when c.first_part <> c.last_part then coalesce(${ruleOf('out')}, ${ruleOf('in')}) end as rule`;
const PERIODS = sql`usage_correction_counters c left join usage_counters u on u.project_id = c.project_id and u.key = c.key
  and u.period_start = c.period_start`;

function periodOf(
  scope: CountedProject,
  { quantity, amount, itemCount, expectedCorrections, ...row }: PeriodRow,
): StoredPeriod {
  const expected = {
    ...{ quantity: amountFromText(quantity), amount: amountFromText(amount), itemCount },
    correctionCount: expectedCorrections ?? undefined,
  };
  const priceChange = row.priceChange === null ? undefined : amountFromText(row.priceChange);
  const amounts = { expected, priceChange, closingAmount: amountFromText(row.closingAmount) };
  return { ...row, endS: row.endS ?? undefined, counter: { ...row.counter, scope }, ...amounts };
}

/** Returns the next period whose items are not counted yet. */
export async function nextUncounted(
  db: ProjectDb,
  scope: CountedProject,
  correctionId: string,
): Promise<StoredPeriod | undefined> {
  const row = await db.row<PeriodRow>`
    select ${PERIOD_COLUMNS} from ${PERIODS}
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and not c.is_counted
    order by c.key, c.period_start limit 1`;
  return row === undefined ? undefined : periodOf(scope, row);
}

/** Returns how often corrections have changed the values of a period until now. */
export async function correctionCountOf(db: ProjectDb, { key, startS }: ChangedPeriod): Promise<number> {
  const row = await db.row<{ count: number }>`
    select correction_count as count from usage_counters u
    where ${db.isOwn('u')} and u.key = ${key} and u.period_start = ${startS}`;
  return row?.count ?? 0;
}

/** Returns the periods that a part changes. */
export async function periodsOfPart(
  db: ProjectDb,
  scope: CountedProject,
  correctionId: string,
  partNo: number,
): Promise<StoredPeriod[]> {
  const rows = await db.rows<PeriodRow>`
    select ${PERIOD_COLUMNS} from ${PERIODS}
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and c.failure_code is null and exists (
      select from usage_correction_counts e where e.project_id = c.project_id and e.correction_id = c.correction_id
        and e.part_no = ${partNo} and e.key = c.key and e.period_start = c.period_start and not e.is_failed and not e.is_kept)
    order by c.key, c.period_start`;
  return rows.map((row) => periodOf(scope, row));
}

/** Whether a correction changes counters. */
export async function hasCounts(db: ProjectDb, correctionId: string): Promise<boolean> {
  const row = await db.row<{ found: boolean }>`
    select exists (select from usage_correction_counters c
      where ${db.isOwn('c')} and c.correction_id = ${correctionId}) as found`;
  return row?.found === true;
}

/** Records that the items of a period are counted, the state for which they are, and whether a part must close it. */
export function markCounted(
  db: ProjectDb,
  correctionId: string,
  { key, startS, isMoved }: ChangedPeriod & Pick<StoredPeriod, 'isMoved'>,
  { quantity, amount, itemCount, correctionCount = 0 }: ExpectedState,
): Promise<number> {
  return db.change`
    update usage_correction_counters c set is_counted = true, quantity = ${numericText(quantity)}::numeric,
      amount = ${numericText(amount)}::numeric, item_count = ${itemCount}, correction_count = ${correctionCount},
      is_moved = ${isMoved}
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and c.key = ${key} and c.period_start = ${startS}`;
}

/**
 * Records that the items of a period cannot be priced. Their events fail, and other periods that these events would
 * change are counted again without them.
 */
export async function failPeriod(
  db: ProjectDb,
  correctionId: string,
  { key, startS }: ChangedPeriod,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await db.change`
    update usage_correction_counters c set is_counted = true, failure_code = ${code}, failure_message = ${message}
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and c.key = ${key} and c.period_start = ${startS}`;
  await db.change`
    with failed as (
      update usage_correction_counts e set is_failed = true
      where ${db.isOwn('e')} and e.correction_id = ${correctionId} and not e.is_failed and e.raw_event_id in (
        select f.raw_event_id from usage_correction_counts f
        where ${db.isOwn('f')} and f.correction_id = ${correctionId} and f.key = ${key} and f.period_start = ${startS})
      returning e.key, e.period_start
    )
    update usage_correction_counters c set is_counted = false
    from (select distinct key, period_start from failed) f
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and c.key = f.key and c.period_start = f.period_start
      and c.failure_code is null`;
}

/** An event that fails because one of its counters does. */
export interface FailedCount {
  /** 32 hex digits. */
  readonly eventId: string;
  readonly code: string;
  readonly message: string;
}

/** Returns the events of a part that fail. */
export function failedCounts(db: ProjectDb, correctionId: string, partNo: number): Promise<FailedCount[]> {
  return db.rows<FailedCount>`
    select distinct on (e.raw_event_id) encode(uuid_send(e.raw_event_id), 'hex') as "eventId", c.failure_code as code,
      c.failure_message as message
    from usage_correction_counts e
    join usage_correction_counters c on c.project_id = e.project_id and c.correction_id = e.correction_id
      and c.key = e.key and c.period_start = e.period_start and c.failure_code is not null
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.part_no = ${partNo}
    order by e.raw_event_id, c.key, c.period_start`;
}

/** Marks counts of events that stay as they are. */
export async function keepEvents(
  db: ProjectDb,
  correctionId: string,
  partNo: number,
  eventIds: readonly string[],
): Promise<void> {
  await db.change`
    update usage_correction_counts e set is_kept = true
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.part_no = ${partNo}
      and e.raw_event_id = any(${eventIds}::uuid[])`;
}

/** Finds the first and the last part of each period, when it is known which events change. */
export async function findParts(db: ProjectDb, correctionId: string): Promise<void> {
  await db.change`
    update usage_correction_counters c set first_part = f.first_part, last_part = f.last_part
    from (
      select p.key, p.period_start, min(e.part_no) as first_part, max(e.part_no) as last_part
      from usage_correction_counters p left join usage_correction_counts e on e.project_id = p.project_id
        and e.correction_id = p.correction_id and e.key = p.key and e.period_start = p.period_start
        and not e.is_failed and not e.is_kept
      where ${db.isOwn('p')} and p.correction_id = ${correctionId} group by p.key, p.period_start
    ) f
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and c.key = f.key and c.period_start = f.period_start`;
}

/** Counts that a part has changed the values of periods, and records the states that the next part expects. */
export async function expectStates(
  db: ProjectDb,
  correctionId: string,
  periods: readonly StoredPeriod[],
): Promise<void> {
  const of = <T>(value: (period: StoredPeriod) => T) => periods.map(value);
  const withValues = periods.filter(({ counter }) => keepsValues(counter.definition));
  await db.change`
    with changed as (
      update usage_counters u set correction_count = u.correction_count + 1
      from unnest(${withValues.map(({ key }) => key)}::bytea[], ${withValues.map(({ startS }) => startS)}::bigint[])
        as v (key, period_start)
      where ${db.isOwn('u')} and u.key = v.key and u.period_start = v.period_start
      returning u.key, u.period_start, u.correction_count
    )
    update usage_correction_counters c set quantity = v.quantity, amount = v.amount, item_count = v.item_count,
      is_moved = v.is_moved, price_change = v.price_change, closing_amount = v.closing_amount,
      correction_count = coalesce((
        select changed.correction_count from changed where changed.key = v.key and changed.period_start = v.period_start
      ), 0)
    from unnest(${of(({ key }) => key)}::bytea[], ${of(({ startS }) => startS)}::bigint[],
      ${of(({ expected }) => numericText(expected.quantity))}::numeric[],
      ${of(({ expected }) => numericText(expected.amount))}::numeric[],
      ${of(({ expected }) => expected.itemCount)}::bigint[], ${of(({ isMoved }) => isMoved)}::boolean[],
      ${of(({ priceChange }) => (priceChange === undefined ? null : numericText(priceChange)))}::numeric[],
      ${of(({ closingAmount }) => numericText(closingAmount))}::numeric[])
      as v (key, period_start, quantity, amount, item_count, is_moved, price_change, closing_amount)
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and c.key = v.key and c.period_start = v.period_start`;
}

/** Has all periods counted again. */
export async function uncountPeriods(db: ProjectDb, correctionId: string): Promise<void> {
  await db.change`
    update usage_correction_counters c set is_counted = false
    where ${db.isOwn('c')} and c.correction_id = ${correctionId} and c.failure_code is null`;
}

/** Deletes the counts of parts that will never be applied; a revert begins with the states of now. */
export async function dropCounts(db: ProjectDb, correctionId: string, fromPart: number): Promise<void> {
  await db.change`
    delete from usage_correction_counts e
    where ${db.isOwn('e')} and e.correction_id = ${correctionId} and e.part_no >= ${fromPart}`;
  await db.change`
    update usage_correction_counters c set is_moved = false, price_change = 0
    where ${db.isOwn('c')} and c.correction_id = ${correctionId}`;
  await findParts(db, correctionId);
}

/** Deletes what a correction would count. */
export async function deleteCounts(db: ProjectDb, correctionId: string): Promise<void> {
  await db.change`
    delete from usage_correction_counts e where ${db.isOwn('e')} and e.correction_id = ${correctionId}`;
  await db.change`
    delete from usage_correction_counters c where ${db.isOwn('c')} and c.correction_id = ${correctionId}`;
}
