import { sql } from 'kysely';
import { integerArray, type ProjectDb, uuidArray } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from '../ledger/index.js';
import type { FailedEvent } from '../pipeline/index.js';
import type { ChangedTotal } from './changes.js';
import { deleteCounts } from './counted-periods-store.js';

/** Events of a correction that are applied, and reverted, in one transaction. */
export interface CorrectionPart {
  readonly no: number;
  /** 32 hex digits each, ascending. */
  readonly ids: readonly string[];
  /** The revisions in force when the part was planned, in the order of the ids. */
  readonly formerRevisions: readonly number[];
  /** The attempts of these revisions: to rate a failed event again changes its revision. */
  readonly formerAttempts: readonly number[];
  /** The corrections that had made these revisions; undefined before the part is applied. */
  readonly formerCorrections: readonly string[] | undefined;
  /** See `stored-outcomes.ts`. */
  readonly outcomes: Buffer;
  /** The failed events among them, as they were stored for reprocessing; none before the part is applied. */
  readonly failedEvents: readonly FailedEvent[];
  readonly isApplied: boolean;
}

/** The fields of a part that its plan decides. */
type PlannedPart = Pick<CorrectionPart, 'no' | 'ids' | 'formerRevisions' | 'formerAttempts' | 'outcomes'>;

export async function insertPart(
  db: ProjectDb,
  correctionId: string,
  { no, ids, formerRevisions, formerAttempts, outcomes }: PlannedPart,
): Promise<void> {
  await db.change`
    insert into usage_correction_parts
      (tenant_id, project_id, correction_id, no, raw_event_ids, former_revisions, former_attempts, outcomes)
    values (${db.ownValues()}, ${correctionId}, ${no}, ${uuidArray(ids)}::uuid[],
      ${integerArray(formerRevisions)}::integer[], ${integerArray(formerAttempts)}::integer[], ${outcomes})`;
}

export async function readPart(
  db: ProjectDb,
  correctionId: string,
  no: number,
): Promise<CorrectionPart | undefined> {
  return (await readParts(db, correctionId, no, no + 1))[0];
}

/** Returns the parts from one number to before another, in their order. */
export async function readParts(
  db: ProjectDb,
  correctionId: string,
  from: number,
  to: number,
): Promise<CorrectionPart[]> {
  // One value is read faster than a list of thousands.
  const rows = await db.rows<Omit<CorrectionPart, 'ids'> & { readonly ids: string }>`
    select p.no, coalesce(encode((select string_agg(uuid_send(id), '' order by n)
        from unnest(p.raw_event_ids) with ordinality as e (id, n)), 'hex'), '') as ids,
      p.former_revisions as "formerRevisions", p.former_attempts as "formerAttempts", p.former_corrections as "formerCorrections", p.outcomes,
      p.failed_events as "failedEvents", p.is_applied as "isApplied"
    from usage_correction_parts p
    where ${db.isOwn('p')} and p.correction_id = ${correctionId} and p.no >= ${from} and p.no < ${to}
    order by p.no`;
  return rows.map(({ ids, ...part }) => ({ ...part, ids: idsOf(ids) }));
}

const ID_DIGITS = 32;

function idsOf(digits: string): string[] {
  const count = digits.length / ID_DIGITS;
  return Array.from({ length: count }, (_, index) =>
    digits.slice(index * ID_DIGITS, (index + 1) * ID_DIGITS),
  );
}

/** Leaves out of a part the events that stay as they are. */
export async function narrowPart(
  db: ProjectDb,
  correctionId: string,
  { no, ids, formerRevisions, formerAttempts, outcomes }: PlannedPart,
): Promise<void> {
  await db.change`
    update usage_correction_parts p set raw_event_ids = ${uuidArray(ids)}::uuid[],
      former_revisions = ${integerArray(formerRevisions)}::integer[],
      former_attempts = ${integerArray(formerAttempts)}::integer[], outcomes = ${outcomes}
    where ${db.isOwn('p')} and p.correction_id = ${correctionId} and p.no = ${no}`;
}

/** Marks a part as applied, and keeps what its revert needs. */
export async function markApplied(
  db: ProjectDb,
  correctionId: string,
  no: number,
  { formerCorrections, failedEvents }: Required<Pick<CorrectionPart, 'formerCorrections' | 'failedEvents'>>,
): Promise<void> {
  await db.change`
    update usage_correction_parts p set is_applied = true, former_corrections = ${formerCorrections}::text[],
      failed_events = ${JSON.stringify(failedEvents)}
    where ${db.isOwn('p')} and p.correction_id = ${correctionId} and p.no = ${no}`;
}

export async function markReverted(db: ProjectDb, correctionId: string, no: number): Promise<void> {
  await db.change`
    update usage_correction_parts p set is_applied = false
    where ${db.isOwn('p')} and p.correction_id = ${correctionId} and p.no = ${no}`;
}

export async function deleteParts(db: ProjectDb, correctionId: string): Promise<void> {
  await deleteCounts(db, correctionId);
  await db.change`
    delete from usage_correction_parts p where ${db.isOwn('p')} and p.correction_id = ${correctionId}`;
}

/**
 * Returns the last correction that has changed an event since this one was applied to it; undefined if there is none.
 * Events whose history was deleted have no recorded revision: they stay as they are.
 */
export async function supersededBy(db: ProjectDb, correctionId: string): Promise<string | undefined> {
  const row = await db.row<{ id: string | null }>`
    select max(r.correction_id) as id
    from usage_correction_parts p cross join unnest(p.raw_event_ids) as e (id)
      join usage_event_revisions r on r.project_id = p.project_id and r.raw_event_id = e.id
    where ${db.isOwn('p')} and p.correction_id = ${correctionId} and p.is_applied
      and r.correction_id <> ${correctionId}`;
  return row?.id ?? undefined;
}

/** The latest revision of an event. */
export interface EventRevision {
  /** 32 hex digits. */
  readonly id: string;
  readonly revision: number;
  /** The correction whose result is in force; empty when the event is as it was rated first. */
  readonly correctionId: string;
}

/** Returns the latest revisions of those of the events that were corrected. */
export async function latestRevisions(
  db: ProjectDb,
  ids: readonly string[],
  lock: 'locked' | 'as seen' = 'as seen',
): Promise<Map<string, EventRevision>> {
  const rows = await db.rows<EventRevision>`
    select encode(uuid_send(r.raw_event_id), 'hex') as id, r.revision, r.correction_id as "correctionId"
    from usage_event_revisions r where ${db.isOwn('r')} and r.raw_event_id = any(${uuidArray(ids)}::uuid[])
    order by r.raw_event_id ${lock === 'locked' ? sql`for update of r` : sql``}`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Records the next revisions of events, in ascending order of their ids.
 *
 * @returns the number of those whose latest revision was the one before; the others have not changed
 */
export function recordRevisions(db: ProjectDb, revisions: readonly EventRevision[]): Promise<number> {
  const ids = revisions.map(({ id }) => id);
  const numbers = revisions.map(({ revision }) => revision);
  const by = revisions.map(({ correctionId }) => correctionId);
  return db.change`
    insert into usage_event_revisions as r (tenant_id, project_id, raw_event_id, revision, correction_id)
    select own.*, v.id, v.revision, v.correction_id
    from (select ${db.ownValues()}) own
    cross join unnest(${uuidArray(ids)}::uuid[], ${integerArray(numbers)}::integer[], ${by}::text[]) as v (id, revision, correction_id)
    order by v.id
    on conflict (project_id, raw_event_id) do update
      set revision = excluded.revision, correction_id = excluded.correction_id
      where r.revision = excluded.revision - 1`;
}

/** Adds to the totals of a correction: those that are planned, or those in force. */
export async function addChangedTotals(
  db: ProjectDb,
  correctionId: string,
  kind: 'planned' | 'applied' | 'reverted',
  totals: readonly ChangedTotal[],
): Promise<void> {
  if (totals.length === 0) return;
  const sign = kind === 'reverted' ? -1n : 1n;
  const amounts = (amount: (total: ChangedTotal) => bigint) =>
    sql`${totals.map((total) => amountText(sign * amount(total)))}::numeric[]`;
  await db.change`
    insert into usage_correction_totals as t (tenant_id, project_id, correction_id, is_applied, metric, unit, currency,
      account_id, quantity_before, quantity_after, amount_before, amount_after, cost_before, cost_after)
    select own.*, ${correctionId}, ${kind !== 'planned'}, v.*
    from (select ${db.ownValues()}) own
    cross join unnest(${totals.map(({ metric }) => metric)}::text[], ${totals.map(({ unit }) => unit)}::text[],
      ${totals.map(({ currency }) => currency)}::text[], ${totals.map(({ accountId }) => accountId)}::text[],
      ${amounts((t) => t.quantityBefore)}, ${amounts((t) => t.quantityAfter)}, ${amounts((t) => t.amountBefore)},
      ${amounts((t) => t.amountAfter)}, ${amounts((t) => t.costBefore)}, ${amounts((t) => t.costAfter)}) as v
    on conflict (project_id, correction_id, is_applied, metric, unit, currency, account_id) do update set
      quantity_before = t.quantity_before + excluded.quantity_before,
      quantity_after = t.quantity_after + excluded.quantity_after,
      amount_before = t.amount_before + excluded.amount_before,
      amount_after = t.amount_after + excluded.amount_after,
      cost_before = t.cost_before + excluded.cost_before,
      cost_after = t.cost_after + excluded.cost_after`;
}

/** Returns the totals with the largest differences, and the number of all that are not 0. */
export async function readTotals(
  db: ProjectDb,
  correctionId: string,
  kind: 'planned' | 'applied',
  max: number,
): Promise<{ readonly totals: ChangedTotal[]; readonly count: number }> {
  const rows = await db.rows<Record<string, string> & { readonly count: number }>`
    select metric, unit, currency, account_id, quantity_before::text, quantity_after::text, amount_before::text,
      amount_after::text, cost_before::text, cost_after::text, count(*) over () as count
    from usage_correction_totals t
    where ${db.isOwn('t')} and t.correction_id = ${correctionId} and t.is_applied = ${kind === 'applied'}
      and (quantity_before <> 0 or quantity_after <> 0 or amount_before <> 0 or amount_after <> 0
        or cost_before <> 0 or cost_after <> 0)
    order by abs(amount_after - amount_before) desc, abs(quantity_after - quantity_before) desc,
      abs(cost_after - cost_before) desc, metric, unit, currency, account_id
    limit ${max}`;
  return { totals: rows.map(totalOf), count: rows[0]?.count ?? 0 };
}

/** Returns the differences that are planned, by metric, unit and currency; decimals. */
export function plannedDeltas(db: ProjectDb, correctionId: string) {
  return db.rows<Record<'metric' | 'unit' | 'currency' | 'quantity' | 'amount' | 'cost', string>>`
    select metric, unit, currency, sum(quantity_after - quantity_before)::text as quantity,
      sum(amount_after - amount_before)::text as amount, sum(cost_after - cost_before)::text as cost
    from usage_correction_totals t
    where ${db.isOwn('t')} and t.correction_id = ${correctionId} and not t.is_applied
    group by metric, unit, currency`;
}

/** Whether what is in force is exactly what was planned. */
export async function isAppliedAsPlanned(db: ProjectDb, correctionId: string): Promise<boolean> {
  const row = await db.row<{ differs: boolean }>`
    select exists (
      select from usage_correction_totals t
      where ${db.isOwn('t')} and t.correction_id = ${correctionId}
      group by metric, unit, currency, account_id
      having sum(case when is_applied then 1 else -1 end * quantity_before) <> 0
        or sum(case when is_applied then 1 else -1 end * quantity_after) <> 0
        or sum(case when is_applied then 1 else -1 end * amount_before) <> 0
        or sum(case when is_applied then 1 else -1 end * amount_after) <> 0
        or sum(case when is_applied then 1 else -1 end * cost_before) <> 0
        or sum(case when is_applied then 1 else -1 end * cost_after) <> 0
    ) as differs`;
  return row?.differs === false;
}

function totalOf(row: Readonly<Record<string, string>>): ChangedTotal {
  const amount = (name: string) => amountFromText(row[name] ?? '');
  const { metric = '', unit = '', currency = '', account_id: accountId = '' } = row;
  return {
    ...{ metric, unit, currency, accountId },
    quantityBefore: amount('quantity_before'),
    quantityAfter: amount('quantity_after'),
    amountBefore: amount('amount_before'),
    amountAfter: amount('amount_after'),
    costBefore: amount('cost_before'),
    costAfter: amount('cost_after'),
  };
}
