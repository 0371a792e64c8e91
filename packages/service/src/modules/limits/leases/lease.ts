import type { BudgetLease, LeaseHold, LeaseStatus } from '@tollgate/contract';
import { ONE_STORED } from '../../../kernel/decimal.js';
import { sumOrNone } from '../../../kernel/present.js';
import { type Amount, amountText, type WalletKey } from '../../ledger/index.js';
import type { RuleAtLevel } from '../check/limit-status.js';
import type { LimitedSubject, SubjectLevel } from '../rules/route-rules.js';
import type { HeldAmount, HeldRule } from './reserved-store.js';

/** Usage that is counted together: the amounts of a currency, or the quantities of a metric. */
export interface HoldUnit {
  readonly kind: 'amount' | 'quantity';
  /** The currency, or the metric. */
  readonly unit: string;
}

/** A hold as it is asked for. */
export interface AskedHold extends HoldUnit {
  /** Above 0. */
  readonly amount: Amount;
}

/** The part of one currency or metric that a lease holds. */
export interface Hold extends AskedHold {
  /** Cost or quantity of the events that were charged; 0 or more. */
  readonly used: Amount;
  /** The part that is still held. */
  readonly held: Amount;
  /** The rules whose limits hold it. */
  readonly rules: readonly HeldRule[];
  readonly holdsWallet: boolean;
}

/** The usage that a lease is made for; other usage is not charged to it. */
export interface LeasedWork {
  /** For amounts, the only metric; null for any. */
  readonly metric: string | null;
  /** The texts of dimensions, by name. */
  readonly dimensions: ReadonlyMap<string, string>;
}

/** Amounts and quantities that a subject's limits and wallets hold for a time. Times are Unix seconds. */
export interface Lease extends LeasedWork {
  readonly id: string;
  readonly tenantId: string;
  readonly projectId: string;
  readonly subject: LimitedSubject;
  readonly accountId: string | null;
  /** Whether it was asked for as one amount, not with `holds`. */
  readonly isPlain: boolean;
  /** Exactly one for a plain lease. */
  readonly holds: readonly Hold[];
  /** The rules of which the lease holds one each, until it ends: limits on concurrent work. */
  readonly slots: readonly HeldRule[];
  /** The lease that it takes a part of, the parent of that, and so on; none for most. */
  readonly ancestorIds: readonly string[];
  /** Whether there are, or were, leases that take a part of it. */
  readonly hasChildren: boolean;
  readonly status: LeaseStatus;
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly closedAt: number | null;
}

/** The input of a request for a lease. */
export interface LeaseInput extends LeasedWork {
  readonly subject: LimitedSubject;
  readonly isPlain: boolean;
  /** Each of another currency or metric. */
  readonly holds: readonly AskedHold[];
  /** The lease to take a part of; undefined for none. */
  readonly parentId: string | undefined;
  readonly ttlSeconds: number;
}

/** Returns the lease that a lease takes a part of; undefined for none. */
export function parentIdOf({ ancestorIds: [id] }: Pick<Lease, 'ancestorIds'>): string | undefined {
  return id;
}

/** Returns a unit as text, for maps. A kind contains no space, so the key is unambiguous. */
export function unitKey({ kind, unit }: HoldUnit): string {
  return `${kind} ${unit}`;
}

/**
 * Returns the row of a lease that ends now and holds nothing any more. A lease whose time had come before is expired,
 * not closed.
 */
export function ended(lease: Lease, nowS: number): Lease {
  const hasExpired = lease.expiresAt <= nowS;
  return {
    ...lease,
    holds: lease.holds.map((hold) => ({ ...hold, held: 0n })),
    status: hasExpired ? 'expired' : 'closed',
    closedAt: hasExpired ? lease.expiresAt : nowS,
  };
}

/** Returns a lease to which its ended child gives back what the child, as it was before, still held. */
export function withGivenBack(parent: Lease, child: Lease): Lease {
  return withHeld(
    parent,
    child.holds.map(({ kind, unit, held }) => ({ kind, unit, amount: held })),
  );
}

/** Returns a lease whose holds hold more, each by the part of its unit; less, by negative parts. */
export function withHeld(lease: Lease, parts: readonly AskedHold[]): Lease {
  const byUnit = new Map(parts.map((part) => [unitKey(part), part.amount]));
  return {
    ...lease,
    holds: lease.holds.map((hold) => ({ ...hold, held: hold.held + sumOrNone(byUnit.get(unitKey(hold))) })),
  };
}

/** Returns what a lease holds of each of its rules. A rule that selects several metrics may be in several holds. */
export function reservedAmountsOf({ holds, slots, status }: Lease, projectNo: number): HeldAmount[] {
  const found: HeldAmount[] = [];
  for (const { held, rules } of holds)
    if (held > 0n) for (const rule of rules) found.push({ ...rule, projectNo, amount: held });
  if (status === 'active') for (const rule of slots) found.push({ ...rule, projectNo, amount: ONE_STORED });
  return found;
}

/** Returns the rules that may hold something of a lease by its end: children may give back more to it. */
export function rulesHolding({ holds, slots, hasChildren }: Lease): HeldRule[] {
  return [...holds.flatMap(({ held, rules }) => (held > 0n || hasChildren ? rules : [])), ...slots];
}

/** Returns the wallets that may hold something of a lease by its end. */
export function walletsHolding({ tenantId, projectId, accountId, holds }: Lease): WalletKey[] {
  if (accountId === null) return [];
  return holds
    .filter(({ holdsWallet }) => holdsWallet)
    .map(({ unit: currency }) => ({ tenantId, projectId, accountId, currency }));
}

/** Returns the wallets that hold amounts of a lease, with these amounts. */
export function walletHoldsOf(lease: Lease): (WalletKey & { readonly amount: Amount })[] {
  const { tenantId, projectId, accountId, holds } = lease;
  if (accountId === null) return [];
  return holds
    .filter(({ holdsWallet, held }) => holdsWallet && held > 0n)
    .map(({ unit: currency, held: amount }) => ({ tenantId, projectId, accountId, currency, amount }));
}

/**
 * Returns the rules of a level that a hold is reserved of: those that `block` amounts of its currency, for all usage or
 * for the metric of the work, or quantities of its metric. Rules for values of a dimension that the lease does not name
 * are left out, because it is not known yet what the usage will be.
 */
export function rulesOfHold(
  at: SubjectLevel,
  { kind, unit }: HoldUnit,
  { metric, dimensions }: LeasedWork,
): RuleAtLevel[] {
  const found: RuleAtLevel[] = [];
  at.route.rules.visit(
    kind === 'quantity' ? unit : (metric ?? ''),
    (dimension) => dimensions.get(dimension),
    (rule) => {
      if (rule.action !== 'block' || rule.measure !== kind) return;
      if (kind === 'quantity' || rule.currency === unit) found.push({ at, rule });
    },
  );
  return found;
}

/**
 * The lease as the API shows it at a time: a lease is shown as expired from `expires_at` on, even before a job has
 * ended it.
 */
export function toBudgetLease(lease: Lease, nowS: number): BudgetLease {
  const isDue = lease.status === 'active' && lease.expiresAt <= nowS;
  const shown = isDue ? ended(lease, nowS) : lease;
  return {
    id: shown.id,
    tenant_id: shown.tenantId,
    project_id: shown.projectId,
    subject_type: shown.subject.type,
    subject_id: shown.subject.id,
    account_id: shown.accountId,
    metric: shown.metric,
    dimensions: Object.fromEntries(shown.dimensions),
    status: shown.status,
    parent_lease_id: parentIdOf(shown) ?? null,
    ...plainFields(shown),
    holds: shown.holds.map(toLeaseHold),
    expires_at: shown.expiresAt,
    created_at: shown.createdAt,
    closed_at: shown.closedAt,
  };
}

type PlainFields = Pick<BudgetLease, 'currency' | 'amount' | 'used_amount' | 'remaining_amount'>;

function plainFields({ isPlain, holds: [hold] }: Lease): PlainFields {
  if (!isPlain || hold === undefined)
    return { currency: null, amount: null, used_amount: null, remaining_amount: null };
  return {
    currency: hold.unit,
    amount: amountText(hold.amount),
    used_amount: amountText(hold.used),
    remaining_amount: amountText(hold.held),
  };
}

function toLeaseHold({ kind, unit, amount, used, held }: Hold): LeaseHold {
  const reserved = amountText(amount);
  return {
    ...(kind === 'amount' ? { amount: reserved, currency: unit } : { quantity: reserved, metric: unit }),
    used: amountText(used),
    remaining: amountText(held),
  };
}

/** Returns an answer as it is now: an answer that release 0.1.0 has stored for an idempotency key has no holds. */
export function withHolds(answer: BudgetLease): BudgetLease {
  const { amount, currency, used_amount: used, remaining_amount: remaining } = answer;
  const isOld = answer.holds === undefined && amount !== null && currency !== null;
  if (!isOld || used === null || remaining === null) return answer;
  return { ...answer, dimensions: {}, parent_lease_id: null, holds: [{ amount, currency, used, remaining }] };
}
