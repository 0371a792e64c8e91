import type { LeaseStatus } from '@tollgate/contract';
import { type RawBuilder, sql } from 'kysely';
import type { ListPage, Page } from '../../../kernel/page.js';
import { present } from '../../../kernel/present.js';
import {
  type Db,
  isNotMoving,
  type ProjectDb,
  type ProjectTx,
  type Tx,
} from '../../../platform/postgres/index.js';
import { amountFromText, amountText } from '../../ledger/index.js';
import type { LimitedSubject } from '../rules/route-rules.js';
import type { Lease } from './lease.js';

interface LeaseRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly account_id: string | null;
  readonly currency: string;
  readonly metric: string | null;
  readonly amount: string;
  readonly used: string;
  readonly held: string;
  readonly rule_nos: readonly number[];
  /** Null where all rules are those of the lease's own subject. */
  readonly rule_subject_types: readonly string[] | null;
  readonly rule_subject_ids: readonly string[] | null;
  /** Null for no slots; so are the subjects. */
  readonly slot_rule_nos: readonly number[] | null;
  readonly slot_subject_types: readonly string[] | null;
  readonly slot_subject_ids: readonly string[] | null;
  readonly holds_wallet: boolean;
  readonly status: LeaseStatus;
  readonly expires_at: number;
  readonly created_at: number;
  readonly closed_at: number | null;
}

const COLUMNS = sql`l.tenant_id, l.project_id, l.id, l.subject_type, l.subject_id, l.account_id, l.currency, l.metric,
  l.amount, l.used, l.held, l.rule_nos, l.rule_subject_types, l.rule_subject_ids,
  l.slot_rule_nos, l.slot_subject_types, l.slot_subject_ids, l.holds_wallet, l.status, l.expires_at, l.created_at, l.closed_at`;

export async function insertLeases(tx: Tx, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  const rows = JSON.stringify(leases.map(toRow));
  await sql`
    insert into budget_leases select * from json_populate_recordset(null::budget_leases, ${rows}::json)
  `.execute(tx);
}

export async function findLease(db: ProjectDb, id: string): Promise<Lease | undefined> {
  const row = await db.row<LeaseRow>`
    select ${COLUMNS} from budget_leases l where ${db.isOwn('l')} and l.id = ${id}`;
  return row && toLease(row);
}

/**
 * Locks those of the leases that exist until the transaction ends, in the order that all transactions use. Waits for
 * transactions that use or end them.
 */
export async function lockLeases(tx: ProjectTx, ids: readonly string[]): Promise<Lease[]> {
  if (ids.length === 0) return [];
  const rows = await tx.rows<LeaseRow>`
    select ${COLUMNS} from budget_leases l where ${tx.isOwn('l')} and l.id = any(${ids})
    order by l.id for update`;
  return rows.map(toLease);
}

/** A subquery: when the next lease expires, in milliseconds since the Unix epoch. */
export const nextExpiryMs = sql<number | null>`
  select min(expires_at) * 1000 from budget_leases where status = 'active' and ${isNotMoving('tenant_id')}`;

/** A lease and the number of its project. */
export interface DueLease {
  readonly lease: Lease;
  readonly projectNo: number;
}

/** Locks up to `max` leases of any project that expire by `nowS`, except those that others have locked. */
export async function claimDueLeases(tx: Tx, nowS: number, max: number): Promise<DueLease[]> {
  const { rows } = await sql<LeaseRow & { readonly project_no: number }>`
    select ${COLUMNS}, p.no as project_no from budget_leases l
    join projects p on p.tenant_id = l.tenant_id and p.id = l.project_id
    where l.status = 'active' and l.expires_at <= ${nowS} and ${isNotMoving('l.tenant_id')}
    order by l.expires_at limit ${max}
    for update of l skip locked
  `.execute(tx);
  return rows.map((row) => ({ lease: toLease(row), projectNo: row.project_no }));
}

/** Stores when leases expire that this transaction has locked. */
export async function updateExpiry(tx: Tx, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  await sql`
    update budget_leases l set expires_at = e.expires_at
    from unnest(${leases.map(({ projectId }) => projectId)}::text[], ${leases.map(({ id }) => id)}::text[],
      ${leases.map(({ expiresAt }) => expiresAt)}::bigint[]) as e (project_id, id, expires_at)
    where l.project_id = e.project_id and l.id = e.id
  `.execute(tx);
}

/** Stores the end of leases that this transaction has locked. */
export async function updateEnded(tx: Tx, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  await sql`
    update budget_leases l set status = e.status, held = 0, closed_at = e.closed_at
    from unnest(${leases.map(({ projectId }) => projectId)}::text[], ${leases.map(({ id }) => id)}::text[],
      ${leases.map(({ status }) => status)}::text[], ${leases.map(({ closedAt }) => closedAt)}::bigint[]
    ) as e (project_id, id, status, closed_at)
    where l.project_id = e.project_id and l.id = e.id
  `.execute(tx);
}

/**
 * Deletes up to `max` leases of any project that ended before a time, except those that others have locked, and those
 * of moving tenants, which are copied. Returns the number of deleted leases.
 */
export async function deleteEndedBefore(db: Db, beforeS: number, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with k as materialized (
      select project_id, id from budget_leases
      where status <> 'active' and closed_at < ${beforeS} and ${isNotMoving('tenant_id')} order by closed_at limit ${max} for update skip locked
    )
    delete from budget_leases l using k where l.project_id = k.project_id and l.id = k.id
  `.execute(db);
  return Number(present(numAffectedRows, 'the number of deleted leases'));
}

/** Returns a subject's leases, newest first. Those that expire by `nowS` count as expired. */
export async function listLeases(
  db: ProjectDb,
  filter: { readonly subject: LimitedSubject; readonly status: LeaseStatus | undefined },
  nowS: number,
  { limit, offset }: Page,
): Promise<ListPage<Lease>> {
  const { subject, status } = filter;
  const found = db.part`from budget_leases l where ${db.isOwn('l')} and l.subject_type = ${subject.type}
    and l.subject_id = ${subject.id} and ${hasStatus(status, nowS)}`;
  const rows = await db.rows<LeaseRow>`
    select ${COLUMNS} ${found} order by l.id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items: rows.map(toLease), totalCount: present(counted, 'the number of leases').total };
}

function hasStatus(status: LeaseStatus | undefined, nowS: number): RawBuilder<boolean> {
  switch (status) {
    case undefined:
      return sql`true`;
    case 'active':
      return sql`l.status = 'active' and l.expires_at > ${nowS}`;
    case 'expired':
      return sql`(l.status = 'expired' or l.status = 'active' and l.expires_at <= ${nowS})`;
    case 'closed':
      return sql`l.status = 'closed'`;
  }
}

/** Measures the leases of all projects for metrics, except those of moving tenants. */
export async function measureLeases(
  db: Db,
  nowS: number,
): Promise<{ readonly active: number; readonly due: number; readonly oldestDueAtS: number | null }> {
  const { rows } = await sql<{ active: number; due: number; oldest: number | null }>`
    select count(*) filter (where expires_at > ${nowS}) as active, count(*) filter (where expires_at <= ${nowS}) as due,
      min(expires_at) filter (where expires_at <= ${nowS}) as oldest
    from budget_leases where status = 'active' and ${isNotMoving('tenant_id')}
  `.execute(db);
  const { active, due, oldest } = present(rows[0], 'the number of leases');
  return { active, due, oldestDueAtS: oldest };
}

function toLease(row: LeaseRow): Lease {
  const subject = { type: row.subject_type, id: row.subject_id };
  return {
    id: row.id,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    subject,
    accountId: row.account_id,
    currency: row.currency,
    metric: row.metric,
    amount: amountFromText(row.amount),
    used: amountFromText(row.used),
    held: amountFromText(row.held),
    ruleNos: row.rule_nos,
    ruleSubjects: row.rule_nos.map((_, index) => {
      const { rule_subject_types: types, rule_subject_ids: ids } = row;
      if (types === null || ids === null) return subject;
      return {
        type: present(types[index], 'the subject of a rule'),
        id: present(ids[index], 'the subject of a rule'),
      };
    }),
    slots: (row.slot_rule_nos ?? []).map((ruleNo, index) => ({
      ruleNo,
      subject: {
        type: present(row.slot_subject_types?.[index], 'the subject of a slot'),
        id: present(row.slot_subject_ids?.[index], 'the subject of a slot'),
      },
    })),
    holdsWallet: row.holds_wallet,
    status: row.status,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    closedAt: row.closed_at,
  };
}

function toRow(lease: Lease): LeaseRow {
  const isOwn = lease.ruleSubjects.every(
    ({ type, id }) => type === lease.subject.type && id === lease.subject.id,
  );
  return {
    tenant_id: lease.tenantId,
    project_id: lease.projectId,
    id: lease.id,
    subject_type: lease.subject.type,
    subject_id: lease.subject.id,
    account_id: lease.accountId,
    currency: lease.currency,
    metric: lease.metric,
    amount: amountText(lease.amount),
    used: amountText(lease.used),
    held: amountText(lease.held),
    rule_nos: lease.ruleNos,
    rule_subject_types: isOwn ? null : lease.ruleSubjects.map(({ type }) => type),
    rule_subject_ids: isOwn ? null : lease.ruleSubjects.map(({ id }) => id),
    ...slotColumns(lease.slots),
    holds_wallet: lease.holdsWallet,
    status: lease.status,
    expires_at: lease.expiresAt,
    created_at: lease.createdAt,
    closed_at: lease.closedAt,
  };
}

function slotColumns(
  slots: Lease['slots'],
): Pick<LeaseRow, 'slot_rule_nos' | 'slot_subject_types' | 'slot_subject_ids'> {
  if (slots.length === 0) return { slot_rule_nos: null, slot_subject_types: null, slot_subject_ids: null };
  return {
    slot_rule_nos: slots.map(({ ruleNo }) => ruleNo),
    slot_subject_types: slots.map(({ subject }) => subject.type),
    slot_subject_ids: slots.map(({ subject }) => subject.id),
  };
}
