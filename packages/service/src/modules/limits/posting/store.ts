import { sql } from 'kysely';
import { present } from '../../../kernel/present.js';
import { slotOf } from '../../../kernel/shard.js';
import { lockKey, type Tx } from '../../../platform/postgres/index.js';
import { amountFromText, amountText } from '../../ledger/index.js';
import { type Hold, type Lease, unitKey } from '../leases/lease.js';
import { type LeaseRow, toLease } from '../leases/lease-row.js';
import { LEASE_COLUMNS } from '../leases/store.js';
import type { PostingScope } from './rated-usage.js';

/** The id of a lease in an event, with the event's project. */
export interface LeaseRef {
  readonly scope: PostingScope;
  readonly id: string;
}

/** Reads those of the leases that exist in their projects, without a lock. */
export async function readLeases(
  tx: Tx,
  refs: readonly LeaseRef[],
): Promise<{ readonly scope: PostingScope; readonly lease: Lease }[]> {
  if (refs.length === 0) return [];
  const { rows } = await sql<LeaseRow & { readonly position: number }>`
    select k.position, ${LEASE_COLUMNS}
    from unnest(
      ${refs.map(({ scope }) => scope.tenantId)}::text[], ${refs.map(({ scope }) => scope.projectId)}::text[],
      ${refs.map(({ id }) => id)}::text[]
    ) with ordinality as k (tenant_id, project_id, id, position)
    join budget_leases l on l.tenant_id = k.tenant_id and l.project_id = k.project_id and l.id = k.id
  `.execute(tx);
  return rows.flatMap((row) => {
    const scope = refs[row.position - 1]?.scope;
    return scope === undefined ? [] : [{ scope, lease: toLease(row) }];
  });
}

/** The sums that the events of a batch charge a currency or metric of a lease with. × 10^18. */
export interface HoldCharge {
  used: bigint;
  /** As `used`, without refunds: at most this much of what is held is released. */
  spent: bigint;
}

/** The sums that the events of a batch charge one lease with. */
export interface LeaseCharge {
  readonly scope: PostingScope;
  /** As it was when the batch met it. */
  readonly lease: Lease;
  /**
   * By `unitKey`: those of its holds. For a part of a lease also all others, because the leases above may hold what the
   * part does not.
   */
  readonly sums: Map<string, HoldCharge>;
}

/** A part of a hold that a charge releases. */
export interface ReleasedHold {
  readonly scope: PostingScope;
  readonly lease: Lease;
  readonly hold: Hold;
  /** × 10^18; above 0. */
  readonly amount: bigint;
}

/**
 * Charges leases of one amount each: held amounts become used, as far as they go. Refunds lower what is used, not below
 * 0. Locks the leases in the order that all transactions use. A lease that has ended since the batch met it is charged
 * too, and holds nothing any more.
 */
export async function chargePlainLeases(tx: Tx, charges: readonly LeaseCharge[]): Promise<ReleasedHold[]> {
  if (charges.length === 0) return [];
  const sums = charges.flatMap(({ lease, sums }) =>
    lease.holds.map((hold) => present(sums.get(unitKey(hold)), `the charge of lease ${lease.id}`)),
  );
  const { rows } = await sql<{ project_id: string; id: string; released: string }>`
    with locked as (
      select l.tenant_id, l.project_id, l.id, c.used, least(l.held, c.spent) as released
      from unnest(
        ${charges.map(({ scope }) => scope.tenantId)}::text[], ${charges.map(({ scope }) => scope.projectId)}::text[],
        ${charges.map(({ lease }) => lease.id)}::text[],
        ${sums.map(({ used }) => amountText(used))}::numeric[],
        ${sums.map(({ spent }) => amountText(spent))}::numeric[]
      ) as c (tenant_id, project_id, id, used, spent)
      join budget_leases l on l.tenant_id = c.tenant_id and l.project_id = c.project_id and l.id = c.id
      order by l.project_id, l.id
      for update of l
    )
    update budget_leases l set used = greatest(l.used + k.used, 0), held = l.held - k.released
    from locked k where l.tenant_id = k.tenant_id and l.project_id = k.project_id and l.id = k.id
    returning k.project_id, k.id, k.released
  `.execute(tx);
  const released = new Map(rows.map((row) => [`${row.project_id} ${row.id}`, row.released]));
  return charges.flatMap(({ scope, lease }) => {
    const text = present(released.get(`${scope.projectId} ${lease.id}`), `lease ${lease.id}`);
    const amount = amountFromText(text);
    return amount === 0n ? [] : lease.holds.map((hold) => ({ scope, lease, hold, amount }));
  });
}

/** Prefix of the advisory locks, one for each slot, under which batches lock leases, windows and wallets. */
const POSTING_LOCK = 'tollgate-posting';

/**
 * Waits until no other transaction posts for a slot of these projects, and keeps others out until `tx` ends. All
 * writers of windows take these locks first, so that a change reaches both the windows that exist and those that a
 * batch is opening. Slots are locked in ascending order, so that transactions cannot deadlock; call this once in a
 * transaction.
 *
 * The lock without a slot is taken in shared mode. A worker of the previous version takes it exclusively, for all
 * projects.
 */
export async function lockPosting(tx: Tx, projectNos: Iterable<number>): Promise<void> {
  const slots = [...new Set(Array.from(projectNos, slotOf))].sort((a, b) => a - b);
  await sql`
    select pg_advisory_xact_lock_shared(${lockKey(POSTING_LOCK)}),
      pg_advisory_xact_lock(${lockKey(sql`${POSTING_LOCK} || '-' || slot`)})
    from unnest(${slots}::integer[]) as locked (slot)
  `.execute(tx);
}
