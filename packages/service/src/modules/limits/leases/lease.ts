import type { BudgetLease, LeaseStatus } from '@tollgate/contract';
import { ONE_STORED } from '../../../kernel/decimal.js';
import { present } from '../../../kernel/present.js';
import { type Amount, amountText, type WalletKey } from '../../ledger/index.js';
import type { RuleAtLevel } from '../check/limit-status.js';
import type { LimitedSubject, SubjectLevel } from '../rules/route-rules.js';
import type { HeldAmount, HeldRule } from './reserved-store.js';

/** An amount that a subject's limits and wallet hold for a time. Times are Unix seconds. */
export interface Lease {
  readonly id: string;
  readonly tenantId: string;
  readonly projectId: string;
  readonly subject: LimitedSubject;
  readonly accountId: string | null;
  readonly currency: string;
  readonly metric: string | null;
  readonly amount: Amount;
  readonly used: Amount;
  /** The part of the amount that is still held. */
  readonly held: Amount;
  /** The rules whose limits hold the amount. */
  readonly ruleNos: readonly number[];
  /** The subject of each rule, in their order. */
  readonly ruleSubjects: readonly LimitedSubject[];
  /** The rules of which the lease holds one each, until it ends: limits on concurrent work. */
  readonly slots: readonly HeldRule[];
  readonly holdsWallet: boolean;
  readonly status: LeaseStatus;
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly closedAt: number | null;
}

/** The input of a request for a lease. */
export interface LeaseInput {
  readonly subject: LimitedSubject;
  /** Above 0. */
  readonly amount: Amount;
  readonly currency: string;
  readonly metric: string | null;
  readonly ttlSeconds: number;
}

/**
 * Returns the row of a lease that ends now and holds nothing any more. A lease whose time had come before is expired,
 * not closed.
 */
export function ended(lease: Lease, nowS: number): Lease {
  const hasExpired = lease.expiresAt <= nowS;
  return {
    ...lease,
    held: 0n,
    status: hasExpired ? 'expired' : 'closed',
    closedAt: hasExpired ? lease.expiresAt : nowS,
  };
}

/** Returns what an active lease holds of each of its rules. */
export function reservedAmountsOf({ held, ...lease }: Lease, projectNo: number): HeldAmount[] {
  const slots = lease.slots.map((rule) => ({ ...rule, projectNo, amount: ONE_STORED }));
  if (held === 0n) return slots;
  return [...rulesHolding(lease).map((rule) => ({ ...rule, projectNo, amount: held })), ...slots];
}

/** Returns the rules that hold a lease, each with its subject. */
export function rulesHolding({ ruleNos, ruleSubjects }: Pick<Lease, 'ruleNos' | 'ruleSubjects'>): HeldRule[] {
  return ruleNos.map((ruleNo, index) => ({
    ruleNo,
    subject: present(ruleSubjects[index], `the subject of rule ${ruleNo}`),
  }));
}

/** Returns the wallet that holds the amount; undefined when none does. */
export function walletOf(lease: Lease): WalletKey | undefined {
  const { tenantId, projectId, accountId, currency } = lease;
  const isHeld = lease.holdsWallet && lease.held > 0n && accountId !== null;
  return isHeld ? { tenantId, projectId, accountId, currency } : undefined;
}

/**
 * Returns the rules of a level that a lease is reserved of: those that `block` amounts of its currency, for all usage
 * or for its metric. Rules for one value of a dimension are left out, because it is not known yet what the usage will
 * be.
 */
export function rulesOfLease(
  at: SubjectLevel,
  { currency, metric }: Pick<Lease, 'currency' | 'metric'>,
): RuleAtLevel[] {
  const found: RuleAtLevel[] = [];
  at.route.rules.visit(
    metric ?? '',
    () => undefined,
    (rule) => {
      if (rule.action === 'block' && rule.measure === 'amount' && rule.currency === currency)
        found.push({ at, rule });
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
    currency: shown.currency,
    metric: shown.metric,
    status: shown.status,
    amount: amountText(shown.amount),
    used_amount: amountText(shown.used),
    remaining_amount: amountText(shown.held),
    expires_at: shown.expiresAt,
    created_at: shown.createdAt,
    closed_at: shown.closedAt,
  };
}
