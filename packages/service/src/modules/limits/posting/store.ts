import { sql } from 'kysely';
import { slotOf } from '../../../kernel/shard.js';
import { lockKey, type Tx } from '../../../platform/postgres/index.js';
import { amountFromText, amountText } from '../../ledger/index.js';
import type { PostingScope } from './rated-usage.js';

/** The fields of a lease that decide how an event which names it is posted. */
export interface NamedLease {
  readonly id: string;
  readonly subjectType: string;
  readonly subjectId: string;
  /** The account whose wallet holds the lease; null when none does. */
  readonly accountId: string | null;
  readonly currency: string;
  /** The only metric that the lease pays for; null for any. */
  readonly metric: string | null;
  readonly status: 'active' | 'closed' | 'expired';
  /** Unix seconds. */
  readonly expiresAt: number;
  /** The numbers of the rules whose limits hold the lease. */
  readonly ruleNos: readonly number[];
  /** The subject of each of these rules; null where all are those of the lease's own subject. */
  readonly ruleSubjectTypes: readonly string[] | null;
  readonly ruleSubjectIds: readonly string[] | null;
  readonly holdsWallet: boolean;
}

/** The id of a lease in an event, with the event's project. */
export interface LeaseRef {
  readonly scope: PostingScope;
  readonly id: string;
}

/** Reads those of the leases that exist in their projects, without a lock. */
export async function readLeases(
  tx: Tx,
  refs: readonly LeaseRef[],
): Promise<{ readonly scope: PostingScope; readonly lease: NamedLease }[]> {
  if (refs.length === 0) return [];
  const { rows } = await sql<NamedLease & { readonly position: number }>`
    select k.position, l.id, l.subject_type as "subjectType", l.subject_id as "subjectId", l.account_id as "accountId",
      l.currency, l.metric, l.status, l.expires_at as "expiresAt", l.rule_nos as "ruleNos",
      l.rule_subject_types as "ruleSubjectTypes", l.rule_subject_ids as "ruleSubjectIds", l.holds_wallet as "holdsWallet"
    from unnest(
      ${refs.map(({ scope }) => scope.tenantId)}::text[], ${refs.map(({ scope }) => scope.projectId)}::text[],
      ${refs.map(({ id }) => id)}::text[]
    ) with ordinality as k (tenant_id, project_id, id, position)
    join budget_leases l on l.tenant_id = k.tenant_id and l.project_id = k.project_id and l.id = k.id
  `.execute(tx);
  return rows.flatMap(({ position, ...lease }) => {
    const scope = refs[position - 1]?.scope;
    return scope === undefined ? [] : [{ scope, lease }];
  });
}

/** The sums that the events of a batch charge one lease with. Amounts × 10^18. */
export interface LeaseCharge {
  readonly scope: PostingScope;
  readonly lease: NamedLease;
  used: bigint;
  /** As `used`, without refunds: at most this much of the held amount is released. */
  spent: bigint;
}

/** A charge, and the held amount that it releases. */
export interface AppliedCharge extends LeaseCharge {
  /** × 10^18. */
  readonly released: bigint;
}

/**
 * Charges leases: held amounts become used, as far as they go. Locks the leases in the order that all transactions use.
 * A lease that has ended since the batch met it is charged too, and holds nothing any more.
 */
export async function chargeLeases(tx: Tx, charges: readonly LeaseCharge[]): Promise<AppliedCharge[]> {
  if (charges.length === 0) return [];
  const { rows } = await sql<{ project_id: string; id: string; released: string }>`
    with locked as (
      select l.project_id, l.id, c.used, least(l.held, c.spent) as released
      from unnest(
        ${charges.map(({ scope }) => scope.projectId)}::text[], ${charges.map(({ lease }) => lease.id)}::text[],
        ${charges.map(({ used }) => amountText(used))}::numeric[],
        ${charges.map(({ spent }) => amountText(spent))}::numeric[]
      ) as c (project_id, id, used, spent)
      join budget_leases l on l.project_id = c.project_id and l.id = c.id
      order by l.project_id, l.id
      for update of l
    )
    update budget_leases l set used = l.used + k.used, held = l.held - k.released
    from locked k where l.project_id = k.project_id and l.id = k.id
    returning k.project_id, k.id, k.released
  `.execute(tx);
  const released = new Map(rows.map((row) => [`${row.project_id} ${row.id}`, row.released]));
  return charges.map((charge) => {
    const text = released.get(`${charge.scope.projectId} ${charge.lease.id}`);
    if (text === undefined) throw new Error(`lease ${charge.lease.id} does not exist any more`);
    return { ...charge, released: amountFromText(text) };
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
