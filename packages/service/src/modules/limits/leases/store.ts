import type { LeaseStatus } from '@tollgate/contract';
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { ListPage, Page } from '../../../kernel/page.js';
import { present } from '../../../kernel/present.js';
import {
  type Db,
  isNotMoving,
  type Postgres,
  type ProjectDb,
  type ProjectTx,
  type Tx,
} from '../../../platform/postgres/index.js';
import type { LimitedSubject } from '../rules/route-rules.js';
import type { Lease } from './lease.js';
import { type LeaseRow, toLease, toLeaseRow } from './lease-row.js';

/** The columns of a `LeaseRow`, of the table `l`. */
const COLUMNS = `l.tenant_id, l.project_id, l.id, l.subject_type, l.subject_id, l.account_id, l.currency, l.metric,
  l.amount, l.used, l.held, l.rule_nos, l.rule_subject_types, l.rule_subject_ids, l.holds, l.dimensions,
  l.slot_rule_nos, l.slot_subject_types, l.slot_subject_ids, l.holds_wallet, l.ancestor_ids, l.has_children, l.status, l.expires_at, l.created_at, l.closed_at`;
export const LEASE_COLUMNS = sql.raw(COLUMNS);

/** A lease comes after all leases that it is a part of. Every transaction locks leases in this order. */
const PARENTS_FIRST = sql`cardinality(l.ancestor_ids) nulls first, l.project_id, l.id`;

export async function insertLeases(tx: Tx, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  await tx.executeQuery(CompiledQuery.raw(INSERT, newLeaseValues(leases)));
}

/**
 * Inserts new leases; its parameters, from a number on, are `newLeaseValues`. Most leases have much in common, which is
 * read once for all of them, because to read a row of all columns takes as long as to insert it.
 *
 * @param from more tables of the query, and its condition
 */
export function insertText(firstParameter: number, from = ''): string {
  const [ids, kinds, amounts, helds, common] = [0, 1, 2, 3, 4].map((index) => `$${firstParameter + index}`);
  return `insert into budget_leases (${COLUMNS.replaceAll('l.', '')})
    select ${COLUMNS.replaceAll(/\bl\.(id|amount|held)\b/g, 'a.$1')}
    from unnest(${ids}::text[], ${kinds}::bigint[], ${amounts}::numeric[], ${helds}::numeric[])
      as a (id, kind, amount, held)
    join rows from (json_populate_recordset(null::budget_leases, ${common}::json)) with ordinality as l
      on l.ordinality = a.kind${from}`;
}

const INSERT = insertText(1);

/** Returns the five parameters of `insertText`. */
export function newLeaseValues(leases: readonly Lease[]): unknown[] {
  const kinds = new Map<string, number>();
  const rows = leases.map((lease) => {
    const { id, amount, held, ...common } = toLeaseRow(lease);
    const text = JSON.stringify(common);
    const kind = kinds.get(text) ?? kinds.size + 1;
    kinds.set(text, kind);
    return { id, kind, amount, held };
  });
  return [
    rows.map(({ id }) => id),
    rows.map(({ kind }) => kind),
    rows.map(({ amount }) => amount),
    rows.map(({ held }) => held),
    `[${[...kinds.keys()].join()}]`,
  ];
}

/** A lease as it was found without a lock. */
export interface FoundLease {
  readonly lease: Lease;
  /** Names the version of the row: each change makes another one. */
  readonly version: string;
}

/**
 * `limit` makes each key one look-up in the index: a plan that is kept must not depend on the size of the table. The
 * subqueries hide the number of keys: for few keys PostgreSQL would otherwise plan the statement each time.
 */
const FIND = {
  name: 'leases-found',
  text: `select ${COLUMNS}, l.version, k.position
    from unnest((select $1::text[]), (select $2::text[]), (select $3::text[])) with ordinality as k (tenant_id, project_id, id, position)
    cross join lateral (
      select l.*, l.xmin as version from budget_leases l
      where l.tenant_id = k.tenant_id and l.project_id = k.project_id and l.id = k.id limit 1
    ) as l`,
};

/** Finds leases without a lock, in the order of the keys; undefined for those that do not exist. */
export async function findLeases(
  { pool }: Pick<Postgres, 'pool'>,
  keys: readonly LeaseKey[],
): Promise<(FoundLease | undefined)[]> {
  type Row = LeaseRow & { readonly version: string; readonly position: number };
  const { rows } = await pool.query<Row>({ ...FIND, values: keyLists(keys) });
  const found = new Map(rows.map((row) => [row.position, row]));
  return keys.map((_, index) => {
    const row = found.get(index + 1);
    return row && { lease: toLease(row), version: row.version };
  });
}

/**
 * Locks those of the leases that exist until the transaction ends, in the order that all transactions use: leases
 * before their children. Waits for transactions that use or end them.
 */
export async function lockLeases(tx: ProjectTx, ids: readonly string[]): Promise<Lease[]> {
  if (ids.length === 0) return [];
  const rows = await tx.rows<LeaseRow>`
    select ${LEASE_COLUMNS} from budget_leases l where ${tx.isOwn('l')} and l.id = any(${ids})
    order by ${PARENTS_FIRST} for update`;
  return rows.map(toLease);
}

/** Active leases below others. */
export interface LeasesBelow {
  /** No lease is below one of them that is not among them; those at the very bottom come first. */
  readonly bottom: readonly Lease[];
  /** The bottom, and the leases that it is a part of. */
  readonly leases: readonly Lease[];
}

/**
 * Locks up to `max` active leases below others, from the bottom up, and the leases that they are a part of. The
 * transaction has locked the others with all their ancestors, as has any other one that adds a lease below them, so
 * none is missed.
 */
export async function lockLeasesBelow(
  tx: ProjectTx,
  ids: readonly string[],
  max: number,
): Promise<LeasesBelow> {
  if (ids.length === 0) return { bottom: [], leases: [] };
  const rows = await tx.rows<LeaseRow & { readonly is_bottom: boolean }>`
    with b as materialized (
      select l.id, l.ancestor_ids[1] as parent_id from budget_leases l
      where ${isActiveBelow(tx, ids)} order by cardinality(l.ancestor_ids) desc, l.id limit ${max}
    )
    select ${LEASE_COLUMNS}, l.id in (select id from b) as is_bottom from budget_leases l
    where ${tx.isOwn('l')} and l.id in (select id from b union select parent_id from b) and l.status = 'active'
    order by ${PARENTS_FIRST} for update`;
  const leases = rows.map(toLease);
  return { leases, bottom: leases.filter((_, at) => rows[at]?.is_bottom === true).reverse() };
}

/** Lets no active lease below another one, which this transaction has locked, live longer than until `expiresAt`. */
export async function shortenLeasesBelow(tx: ProjectTx, id: string, expiresAt: number): Promise<void> {
  await tx.change`
    with b as materialized (
      select l.id from budget_leases l where ${isActiveBelow(tx, [id])} and l.expires_at > ${expiresAt}
      order by ${PARENTS_FIRST} for update
    )
    update budget_leases l set expires_at = ${expiresAt} from b where ${tx.isOwn('l')} and l.id = b.id`;
}

/** The index `budget_leases_below` finds them. */
const isActiveBelow = (tx: ProjectTx, ids: readonly string[]) => tx.part`${tx.isOwn('l')}
  and l.ancestor_ids && ${ids}::text[] and l.ancestor_ids is not null and l.status = 'active'`;

/** Names a lease of any project. */
export type LeaseKey = Pick<Lease, 'tenantId' | 'projectId' | 'id'>;

const KEY_PARTS = ['tenantId', 'projectId', 'id'] as const;
const keyLists = (keys: readonly LeaseKey[]) => KEY_PARTS.map((part) => keys.map((key) => key[part]));

/** A table of tenants, projects and ids. */
const keyRows = (keys: readonly LeaseKey[]) =>
  sql`unnest(${sql.join(keyLists(keys).map((list) => sql`${list}::text[]`))})`;

/** As `lockLeases`, of several projects; each lease once. */
export async function lockLeasesByKey(tx: Tx, keys: readonly LeaseKey[]): Promise<Lease[]> {
  const { rows } = await sql<LeaseRow>`
    select ${LEASE_COLUMNS} from ${keyRows(keys)} as k (tenant_id, project_id, id)
    join budget_leases l on l.tenant_id = k.tenant_id and l.project_id = k.project_id and l.id = k.id
    order by ${PARENTS_FIRST} for update of l`.execute(tx);
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
    select ${LEASE_COLUMNS}, p.no as project_no from budget_leases l
    join projects p on p.tenant_id = l.tenant_id and p.id = l.project_id
    where l.status = 'active' and l.expires_at <= ${nowS} and ${isNotMoving('l.tenant_id')}
    order by l.expires_at limit ${max}
    for update of l skip locked
  `.execute(tx);
  return rows.map((row) => ({ lease: toLease(row), projectNo: row.project_no }));
}

/** Locks leases of any project, except those that others have locked. */
export async function lockFreeLeases(tx: Tx, keys: readonly LeaseKey[]): Promise<Lease[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<LeaseRow>`
    select ${LEASE_COLUMNS} from budget_leases l
    where (l.tenant_id, l.project_id, l.id) in (select * from ${keyRows(keys)})
    for update skip locked`.execute(tx);
  return rows.map(toLease);
}

/** Stores changes of leases that this transaction has locked: what they hold and have used, and their end. */
export async function updateLeases(tx: Tx, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  const rows = JSON.stringify(leases.map(toLeaseRow));
  await sql`
    update budget_leases l set used = e.used, held = e.held, holds = e.holds, status = e.status,
      expires_at = e.expires_at, closed_at = e.closed_at, has_children = e.has_children
    from json_populate_recordset(null::budget_leases, ${rows}::json) as e
    where l.tenant_id = e.tenant_id and l.project_id = e.project_id and l.id = e.id
  `.execute(tx);
}

/**
 * Deletes up to `max` leases of any project that ended before a time, except those that others have locked, and those
 * of moving tenants, which are copied. Returns the number of deleted leases.
 */
export async function deleteEndedBefore(db: Db, beforeS: number, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with k as materialized (
      select tenant_id, project_id, id from budget_leases
      where status <> 'active' and closed_at < ${beforeS} and ${isNotMoving('tenant_id')} order by closed_at limit ${max} for update skip locked
    )
    delete from budget_leases l using k
    where l.tenant_id = k.tenant_id and l.project_id = k.project_id and l.id = k.id
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
    select ${LEASE_COLUMNS} ${found} order by l.id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items: rows.map(toLease), totalCount: present(counted, 'the number of leases').total };
}

/**
 * Returns the leases of a branch, and all active ones below its top, each after the lease that it is a part of. The
 * index `budget_leases_below` finds those below.
 *
 * @param branch ids of a lease, its parent and so on, up to the top of the tree
 */
export async function listTree(
  db: ProjectDb,
  branch: readonly string[],
  nowS: number,
  { limit, offset }: Page,
): Promise<ListPage<Lease>> {
  const found = db.part`from budget_leases l where ${db.isOwn('l')} and (l.id = any(${branch})
    or l.ancestor_ids @> ${branch.slice(-1)}::text[] and l.ancestor_ids is not null and ${hasStatus('active', nowS)})`;
  const rows = await db.rows<LeaseRow>`
    select ${LEASE_COLUMNS} ${found} order by ${PARENTS_FIRST} limit ${limit} offset ${offset}`;
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
