import type { CorrectionStatus, CorrectionTotal } from '@tollgate/contract';
import { type RawBuilder, sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import type { CorrectionAuthor } from '../usage/index.js';
import type { RankedExample } from './changes.js';
import type { CorrectionInput, StoredCorrection } from './correction.js';

/** Returns the columns of `c`, as the fields of a `StoredCorrection`. */
function correctionColumns(request: RawBuilder<unknown>) {
  return sql`c.id, c.action, c.status, encode(uuid_send(c.raw_event_id), 'hex') as "eventId", ${request} as request,
  c.backtest_id as "backtestId", c.reason, c.is_applied_at_once as "isAppliedAtOnce", c.counters, c.phase, c.created_by as "createdBy",
  c.created_at_ms as "createdAtMs", c.planned_at_ms as "plannedAtMs", c.applied_at_ms as "appliedAtMs",
  c.applied_by as "appliedBy", c.reverted_at_ms as "revertedAtMs", c.reverted_by as "revertedBy", encode(uuid_send(c.planned_up_to), 'hex') as "plannedUpTo",
  c.events_total as "eventsTotal", c.events_matched as "eventsMatched", c.events_changed as "eventsChanged",
  c.events_failed as "eventsFailed", c.events_applied as "eventsApplied", c.part_count as "partCount",
  c.next_part as "nextPart", c.failure_code as "failureCode", c.failure_message as "failureMessage"`;
}

/** All columns of `c`. */
export const CORRECTION_COLUMNS = correctionColumns(sql`c.request`);

/** A page would have a hundred replacements, each as large as an event. */
const LISTED_COLUMNS = correctionColumns(
  sql`case c.action when 'replace' then '{"filter": null, "rules": null}'::json else c.request end`,
);

/** A correction without the new content of its event. */
export interface ListedCorrection extends Omit<StoredCorrection, 'request'> {
  readonly request: Omit<CorrectionInput, 'replacement'>;
}

/** The statuses of corrections with steps to do. */
export const IN_PROGRESS = sql`('planning', 'applying', 'reverting')`;

export interface NewCorrection {
  readonly id: string;
  readonly action: StoredCorrection['action'];
  readonly eventId: string | null;
  readonly request: CorrectionInput;
  readonly backtestId: string | null;
  readonly reason: string;
  readonly isAppliedAtOnce: boolean;
  readonly counters: StoredCorrection['counters'];
  readonly createdBy: string;
  readonly createdAtMs: number;
}

export async function insertCorrection(db: ProjectDb, correction: NewCorrection): Promise<void> {
  await db.change`
    insert into usage_corrections (tenant_id, project_id, id, action, status, raw_event_id, request, backtest_id, reason,
      is_applied_at_once, counters, applied_by, created_by, created_at_ms)
    values (${db.ownValues()}, ${correction.id}, ${correction.action}, 'planning', ${correction.eventId}::uuid,
      ${JSON.stringify(correction.request)}, ${correction.backtestId}, ${correction.reason},
      ${correction.isAppliedAtOnce}, ${correction.counters}, ${correction.isAppliedAtOnce ? correction.createdBy : null}, ${correction.createdBy},
      ${correction.createdAtMs})`;
}

export function readCorrection(db: ProjectDb, id: string): Promise<StoredCorrection | undefined> {
  return db.row<StoredCorrection>`
    select ${CORRECTION_COLUMNS} from usage_corrections c where ${db.isOwn('c')} and c.id = ${id}`;
}

/** Returns a correction that nobody changes until the transaction ends. */
export function lockCorrection(db: ProjectDb, id: string): Promise<StoredCorrection | undefined> {
  return db.row<StoredCorrection>`
    select ${CORRECTION_COLUMNS} from usage_corrections c where ${db.isOwn('c')} and c.id = ${id} for update of c`;
}

export interface CorrectionListFilter {
  readonly status?: CorrectionStatus | undefined;
  /** 32 hex digits: only corrections that name this event or change it. */
  readonly eventId?: string | undefined;
}

/** Returns the part `from … where …` of a statement that selects corrections. */
export function selectedCorrections(db: ProjectDb, { status, eventId }: CorrectionListFilter) {
  const hasStatus = status === undefined ? sql`` : sql`and c.status = ${status}`;
  return db.part`from usage_corrections c where ${db.isOwn('c')} ${hasStatus}
    ${eventId === undefined ? sql`` : sql`and c.id = any(array(${correctionsOf(db, eventId)}))`}`;
}

/** Only the index of the first and last ids is read for parts that cannot contain the event. */
function correctionsOf(db: ProjectDb, eventId: string) {
  return db.part`
    select n.id from usage_corrections n where ${db.isOwn('n')} and n.raw_event_id = ${eventId}::uuid
    union select part.correction_id from usage_correction_parts part
    where ${db.isOwn('part')} and part.raw_event_ids[cardinality(part.raw_event_ids)] >= ${eventId}::uuid
      and part.raw_event_ids[1] <= ${eventId}::uuid and part.raw_event_ids @> array[${eventId}::uuid]`;
}

/** Newest first. */
export async function listCorrections(
  db: ProjectDb,
  filter: CorrectionListFilter,
  { limit, offset }: Page,
): Promise<ListPage<ListedCorrection>> {
  const found = selectedCorrections(db, filter);
  const items = await db.rows<ListedCorrection>`
    select ${LISTED_COLUMNS} ${found} order by c.id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items, totalCount: counted?.total ?? 0 };
}

/** Returns the number of corrections of the project that are planned, applied or reverted now. */
export async function countInProgress(db: ProjectDb): Promise<number> {
  const row = await db.row<{ open: number }>`
    select count(*) as open from usage_corrections c where ${db.isOwn('c')} and c.status in ${IN_PROGRESS}`;
  return row?.open ?? 0;
}

/** Returns the newest correction of one event alone that is planned or applied now. */
export function latestOpenOf(db: ProjectDb, eventId: string): Promise<StoredCorrection | undefined> {
  return db.row<StoredCorrection>`
    select ${CORRECTION_COLUMNS} from usage_corrections c
    where ${db.isOwn('c')} and c.raw_event_id = ${eventId}::uuid and c.status in ('planning', 'applying')
    order by c.id desc limit 1`;
}

/** Whether an earlier correction of the one event of a correction is in progress. */
export async function hasEarlierInProgress(
  db: ProjectDb,
  { id, eventId }: Pick<StoredCorrection, 'id' | 'eventId'>,
): Promise<boolean> {
  const row = await db.row<{ found: boolean }>`
    select exists (select from usage_corrections c where ${db.isOwn('c')} and c.raw_event_id = ${eventId}::uuid
      and c.id < ${id} and c.status in ${IN_PROGRESS}) as found`;
  return row?.found === true;
}

/** The totals of a correction that the audit log keeps, and the number of all of them. */
export interface KeptTotals {
  readonly totals: readonly CorrectionTotal[];
  readonly count: number;
}

/** Returns the totals that a revert takes back. */
export async function readRevertedTotals(db: ProjectDb, id: string): Promise<KeptTotals | undefined> {
  const row = await db.row<{ kept: KeptTotals | null }>`
    select c.reverted_totals as kept from usage_corrections c where ${db.isOwn('c')} and c.id = ${id}`;
  return row?.kept ?? undefined;
}

/** Fields of a correction that change. */
export interface CorrectionChange {
  readonly status?: CorrectionStatus;
  readonly counters?: StoredCorrection['counters'];
  readonly phase?: StoredCorrection['phase'];
  readonly plannedUpTo?: string;
  readonly eventsTotal?: number;
  readonly eventsMatched?: number;
  readonly eventsChanged?: number;
  readonly eventsFailed?: Readonly<Record<string, number>>;
  readonly eventsApplied?: number;
  readonly partCount?: number;
  readonly nextPart?: number;
  readonly plannedAtMs?: number;
  readonly appliedAtMs?: number;
  readonly appliedBy?: string;
  readonly revertedAtMs?: number;
  readonly revertedBy?: string;
  /** Those in force when the revert begins. */
  readonly revertedTotals?: KeptTotals;
  readonly failureCode?: string | null;
  readonly failureMessage?: string | null;
  readonly examples?: readonly RankedExample[];
  /** When the last step was made. */
  readonly progressedAtMs?: number;
  /** Other processes may work on it from then on. */
  readonly busyUntilMs?: number;
}

const CHANGED = {
  status: 'status',
  counters: 'counters',
  phase: 'phase',
  plannedUpTo: 'planned_up_to',
  eventsTotal: 'events_total',
  eventsMatched: 'events_matched',
  eventsChanged: 'events_changed',
  eventsFailed: 'events_failed',
  eventsApplied: 'events_applied',
  partCount: 'part_count',
  nextPart: 'next_part',
  plannedAtMs: 'planned_at_ms',
  appliedAtMs: 'applied_at_ms',
  appliedBy: 'applied_by',
  revertedAtMs: 'reverted_at_ms',
  revertedBy: 'reverted_by',
  revertedTotals: 'reverted_totals',
  failureCode: 'failure_code',
  failureMessage: 'failure_message',
  examples: 'examples',
  progressedAtMs: 'progressed_at_ms',
  busyUntilMs: 'busy_until_ms',
} as const satisfies Record<keyof CorrectionChange, string>;

/** Changes a correction. All but the times of its steps change only while it is locked. */
export async function changeCorrection(db: ProjectDb, id: string, change: CorrectionChange): Promise<void> {
  const values = Object.entries(change).map(([name, value]) => [
    CHANGED[name as keyof CorrectionChange],
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
  ]);
  await db.update('usage_corrections', Object.fromEntries(values)).where('id', '=', id).execute();
}

export async function readExamples(db: ProjectDb, id: string): Promise<RankedExample[]> {
  const row = await db.row<{ examples: RankedExample[] }>`
    select c.examples from usage_corrections c where ${db.isOwn('c')} and c.id = ${id}`;
  return row?.examples ?? [];
}

/** Returns who applied and reverted corrections, and why. */
export function readAuthors(db: ProjectDb, ids: readonly string[]): Promise<CorrectionAuthor[]> {
  return db.rows<CorrectionAuthor>`
    select c.id, c.reason, coalesce(c.applied_by, c.created_by) as "appliedBy", c.reverted_by as "revertedBy"
    from usage_corrections c where ${db.isOwn('c')} and c.id = any(${ids}::text[])`;
}
