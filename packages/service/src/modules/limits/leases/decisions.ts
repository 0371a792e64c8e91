import type { BudgetLease } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/id.js';
import { addTo } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import {
  type Amount,
  insufficientFunds,
  type KeyedRequest,
  type RequestKeys,
  type WalletHolds,
} from '../../ledger/index.js';
import { refuseFull } from '../check/limit-exceeded.js';
import type { LimitStatus } from '../check/limit-status.js';
import type { CompiledRoute } from '../rules/route-rules.js';
import type { CompiledRule } from '../rules/rule.js';
import { ended, type Lease, type LeaseInput, toBudgetLease, walletOf } from './lease.js';

/** A request for a new lease. */
export interface OpenLeaseRequest extends KeyedRequest {
  readonly do: 'grant';
  readonly input: LeaseInput;
  /** The rules to reserve the amount of. */
  readonly rules: readonly CompiledRule[];
}

/** A request to close a lease. */
export interface CloseRequest {
  readonly do: 'close';
  readonly id: string;
}

/** The data by which the lease requests of one subject are decided. The transaction that reads it locks it. */
export interface LeaseState {
  readonly project: ProjectRef;
  readonly route: CompiledRoute | undefined;
  /** Whether the project denies leases of the subject, because it has no route. */
  readonly isDenied: boolean;
  /** The idempotency keys of the requests. */
  readonly keys: RequestKeys<BudgetLease>;
  /** The status of every rule that a lease may be reserved of, by `ruleNo`. */
  readonly statuses: ReadonlyMap<number, LimitStatus>;
  readonly wallets: WalletHolds;
  /** The leases to close, by id. */
  readonly leases: ReadonlyMap<string, Lease>;
  readonly clock: Clock;
}

/**
 * Decides lease requests of one subject one after the other, each by what those before it have left. The decisions are
 * written afterwards.
 */
export class LeaseDecisions {
  readonly #state: LeaseState;
  readonly granted: Lease[] = [];
  /** The closed leases as they were before, by id. */
  readonly closed = new Map<string, Lease>();
  /** The amounts that the decisions reserve and release, by `ruleNo`. */
  readonly #added = new Map<number, Amount>();
  readonly nowS: number;

  constructor(state: LeaseState) {
    this.#state = state;
    this.nowS = unixSeconds(state.clock);
  }

  /**
   * @throws DomainError `unknown_subject`, `limit_exceeded`, `insufficient_funds`, `idempotency_key_conflict`,
   * `not_found`
   */
  answer(request: OpenLeaseRequest | CloseRequest): BudgetLease {
    if (request.do === 'close') return toBudgetLease(this.#close(request), this.nowS);
    const { keys } = this.#state;
    const earlier = keys.answerTo(request);
    if (earlier !== undefined) return earlier;
    const answer = toBudgetLease(this.#grant(request), this.nowS);
    keys.keep(request, answer);
    return answer;
  }

  /** Reserves the amount of all rules and of the wallet, or of none of them. */
  #grant({ input, rules }: OpenLeaseRequest): Lease {
    const ruleNos = rules.map(({ ruleNo }) => ruleNo);
    const statuses = ruleNos.map((ruleNo) => this.#statusOf(ruleNo));
    if (this.#state.isDenied) {
      throw new DomainError('unknown_subject', {
        message: `The subject ${input.subject.type} ${input.subject.id} has no route, and the project denies such subjects.`,
      });
    }
    if (this.#state.route !== undefined) refuseFull(this.#state.route, input.subject, statuses, input.amount);
    const holdsWallet = this.#reserveOfWallet(input);
    const lease = this.#newLease(input, ruleNos, holdsWallet);
    this.#add(lease, lease.held);
    this.granted.push(lease);
    return lease;
  }

  /** Releases what the lease still holds; a lease that has ended stays as it is. */
  #close({ id }: CloseRequest): Lease {
    const lease = this.#state.leases.get(id);
    if (lease === undefined) throw new DomainError('not_found');
    if (lease.status !== 'active') return lease;
    if (!this.closed.has(id)) {
      this.closed.set(id, lease);
      this.#add(lease, -lease.held);
      giveBackToWallets(this.#state.wallets, lease);
    }
    return ended(lease, this.nowS);
  }

  #statusOf(ruleNo: number): LimitStatus {
    const status = this.#state.statuses.get(ruleNo);
    if (status === undefined) throw new Error(`rule ${ruleNo} was not read`);
    const added = this.#added.get(ruleNo);
    return added === undefined ? status : { ...status, reserved: status.reserved + added };
  }

  #add({ ruleNos }: Lease, amount: Amount): void {
    for (const ruleNo of ruleNos) addTo(this.#added, ruleNo, amount);
  }

  /** Returns whether the wallet holds the amount now. A postpaid wallet need not hold it. */
  #reserveOfWallet({ currency, amount }: LeaseInput): boolean {
    const { project, route, wallets } = this.#state;
    if (route === undefined) return false;
    const { tenantId, projectId } = project;
    const wallet = { tenantId, projectId, accountId: route.account.id, currency };
    const outcome = wallets.reserve(wallet, amount);
    if (outcome === 'insufficient_funds')
      throw insufficientFunds(wallet, wallets.availableIn(wallet), amount);
    return outcome === 'held';
  }

  #newLease(
    { subject, amount, currency, metric, ttlSeconds }: LeaseInput,
    ruleNos: readonly number[],
    holdsWallet: boolean,
  ): Lease {
    const { project, route, clock } = this.#state;
    return {
      id: newId('bl', clock),
      tenantId: project.tenantId,
      projectId: project.projectId,
      subject,
      accountId: route?.account.id ?? null,
      currency,
      metric,
      amount,
      used: 0n,
      held: amount,
      ruleNos,
      holdsWallet,
      status: 'active',
      expiresAt: this.nowS + ttlSeconds,
      createdAt: this.nowS,
      closedAt: null,
    };
  }
}

/** Releases what a lease holds of its wallet; the lease is passed as it was before its end. */
export function giveBackToWallets(wallets: WalletHolds, lease: Lease): void {
  const wallet = walletOf(lease);
  if (wallet !== undefined) wallets.release({ ...wallet, amount: lease.held });
}
