import type { BudgetLease } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { ONE_STORED } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/id.js';
import { addTo, present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import {
  type Amount,
  insufficientFunds,
  type KeyedRequest,
  type RequestKeys,
  type WalletHolds,
} from '../../ledger/index.js';
import { refuseFull } from '../check/limit-exceeded.js';
import type { LimitStatus, RuleAtLevel } from '../check/limit-status.js';
import type { SubjectLevel } from '../rules/route-rules.js';
import { ended, type Lease, type LeaseInput, reservedAmountsOf, toBudgetLease, walletOf } from './lease.js';
import type { HeldRule } from './reserved-store.js';

/** A request for a new lease. */
export interface OpenLeaseRequest extends KeyedRequest {
  readonly do: 'grant';
  readonly input: LeaseInput;
  /** Those of the subject; none without a route. */
  readonly levels: readonly SubjectLevel[];
  /** The rules of all levels to reserve the amount of. */
  readonly rules: readonly RuleAtLevel[];
  /** The limits on concurrent work of all levels, to take one of each. */
  readonly slots: readonly RuleAtLevel[];
}

/** A request to close a lease. */
export interface CloseRequest {
  readonly do: 'close';
  readonly id: string;
}

/** A request to let a lease live longer, or shorter. */
export interface RenewRequest {
  readonly do: 'renew';
  readonly id: string;
  readonly ttlSeconds: number;
}

/** A request that changes a lease. */
export type ChangeRequest = CloseRequest | RenewRequest;

/** The data by which a group of lease requests is decided. The transaction that reads it locks it. */
export interface LeaseState {
  readonly project: ProjectRef;
  /** Whether the project denies leases of subjects without a route. */
  readonly isDenied: boolean;
  /** The idempotency keys of the requests. */
  readonly keys: RequestKeys<BudgetLease>;
  /** The status of every rule that a lease may be reserved of, by `heldRuleKey`. */
  readonly statuses: ReadonlyMap<string, LimitStatus>;
  readonly wallets: WalletHolds;
  /** The leases to close or to renew, by id. */
  readonly leases: ReadonlyMap<string, Lease>;
  readonly clock: Clock;
}

/**
 * Decides lease requests one after the other, each by what those before it have left. The decisions are
 * written afterwards.
 */
export class LeaseDecisions {
  readonly #state: LeaseState;
  readonly granted: Lease[] = [];
  /** The closed leases as they were before, by id. */
  readonly closed = new Map<string, Lease>();
  /** The renewed leases that stay active, by id. */
  readonly #renewed = new Map<string, Lease>();
  /** The amounts that the decisions reserve and release, by `heldRuleKey`. */
  readonly #added = new Map<string, Amount>();
  readonly nowS: number;

  constructor(state: LeaseState) {
    this.#state = state;
    this.nowS = unixSeconds(state.clock);
  }

  /**
   * @throws DomainError `unknown_subject`, `limit_exceeded`, `insufficient_funds`, `idempotency_key_conflict`,
   * `not_found`, `lease_not_active`
   */
  answer(request: OpenLeaseRequest | ChangeRequest): BudgetLease {
    if (request.do === 'close') return toBudgetLease(this.#close(request), this.nowS);
    if (request.do === 'renew') return toBudgetLease(this.#renew(request), this.nowS);
    const { keys } = this.#state;
    const earlier = keys.answerTo(request);
    if (earlier !== undefined) return earlier;
    const answer = toBudgetLease(this.#grant(request), this.nowS);
    keys.keep(request, answer);
    return answer;
  }

  /** Reserves the amount of all rules of all levels and of the wallet, or of none of them. */
  #grant(request: OpenLeaseRequest): Lease {
    const { input, levels } = request;
    const rules = request.rules.map(heldRule);
    const slots = request.slots.map(heldRule);
    const limits = [
      ...rules.map((rule) => ({ status: this.#statusOf(rule), asked: input.amount })),
      ...slots.map((rule) => ({ status: this.#statusOf(rule), asked: ONE_STORED })),
    ];
    if (levels.length === 0 && this.#state.isDenied) {
      throw new DomainError('unknown_subject', {
        message: `The subject ${input.subject.type} ${input.subject.id} has no route, and the project denies such subjects.`,
      });
    }
    refuseFull(limits);
    const accountId = levels[0]?.route.account.id;
    const holdsWallet = accountId !== undefined && this.#reserveOfWallet(accountId, input);
    const lease = this.#newLease(input, { rules, slots, accountId: accountId ?? null, holdsWallet });
    this.#add(lease, 1n);
    this.granted.push(lease);
    return lease;
  }

  /** Releases what the lease still holds; a lease that has ended stays as it is. */
  #close({ id }: CloseRequest): Lease {
    const lease = this.#found(id);
    if (lease.status !== 'active') return lease;
    if (!this.closed.has(id)) {
      this.#renewed.delete(id);
      this.closed.set(id, lease);
      this.#add(lease, -1n);
      giveBackToWallets(this.#state.wallets, lease);
    }
    return ended(lease, this.nowS);
  }

  /** A lease whose time has come has ended, even before a job releases what it holds. */
  #renew({ id, ttlSeconds }: RenewRequest): Lease {
    const lease = this.#found(id);
    const hasEnded = lease.status !== 'active' || lease.expiresAt <= this.nowS || this.closed.has(id);
    if (hasEnded) throw new DomainError('lease_not_active');
    const renewed = { ...lease, expiresAt: this.nowS + ttlSeconds };
    this.#renewed.set(id, renewed);
    return renewed;
  }

  /** The leases to store with another end of life. */
  get renewed(): Lease[] {
    return [...this.#renewed.values()];
  }

  #found(id: string): Lease {
    const lease = this.#renewed.get(id) ?? this.#state.leases.get(id);
    if (lease === undefined) throw new DomainError('not_found');
    return lease;
  }

  #statusOf(rule: HeldRule): LimitStatus {
    const key = heldRuleKey(rule);
    const status = present(this.#state.statuses.get(key), `the status of rule ${rule.ruleNo}`);
    const added = this.#added.get(key);
    if (added === undefined) return status;
    const isOfLeases = status.rule.measure === 'concurrency';
    return isOfLeases
      ? { ...status, used: status.used + added }
      : { ...status, reserved: status.reserved + added };
  }

  /** @param sign 1n for what a lease begins to hold, -1n for what it releases */
  #add(lease: Lease, sign: 1n | -1n): void {
    for (const held of reservedAmountsOf(lease, this.#state.project.projectNo))
      addTo(this.#added, heldRuleKey(held), sign * held.amount);
  }

  /** Returns whether the wallet holds the amount now. A postpaid wallet need not hold it. */
  #reserveOfWallet(accountId: string, { currency, amount }: LeaseInput): boolean {
    const { project, wallets } = this.#state;
    const { tenantId, projectId } = project;
    const wallet = { tenantId, projectId, accountId, currency };
    const outcome = wallets.reserve(wallet, amount);
    if (outcome === 'insufficient_funds')
      throw insufficientFunds(wallet, wallets.availableIn(wallet), amount);
    return outcome === 'held';
  }

  #newLease(
    { subject, amount, currency, metric, ttlSeconds }: LeaseInput,
    {
      rules,
      slots,
      accountId,
      holdsWallet,
    }: Pick<Lease, 'accountId' | 'holdsWallet' | 'slots'> & { readonly rules: readonly HeldRule[] },
  ): Lease {
    const { project, clock } = this.#state;
    return {
      id: newId('bl', clock),
      tenantId: project.tenantId,
      projectId: project.projectId,
      subject,
      accountId,
      currency,
      metric,
      amount,
      used: 0n,
      held: amount,
      ruleNos: rules.map(({ ruleNo }) => ruleNo),
      ruleSubjects: rules.map(({ subject }) => subject),
      slots,
      holdsWallet,
      status: 'active',
      expiresAt: this.nowS + ttlSeconds,
      createdAt: this.nowS,
      closedAt: null,
    };
  }
}

/** Returns the rule that a lease is reserved of. */
export function heldRule({ at, rule }: RuleAtLevel): HeldRule {
  return { subject: at.subject, ruleNo: rule.ruleNo };
}

/** A type contains no space, and a number neither, so the key is unambiguous. */
export function heldRuleKey({ subject, ruleNo }: HeldRule): string {
  return `${ruleNo} ${subject.type} ${subject.id}`;
}

/** Releases what a lease holds of its wallet; the lease is passed as it was before its end. */
export function giveBackToWallets(wallets: WalletHolds, lease: Lease): void {
  const wallet = walletOf(lease);
  if (wallet !== undefined) wallets.release({ ...wallet, amount: lease.held });
}
