import type { BudgetLease } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { ONE_STORED } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/id.js';
import { present, sumOrNone } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import {
  insufficientFunds,
  type KeyedRequest,
  type KeyScope,
  type RequestKeys,
  type WalletHolds,
  type WalletKey,
} from '../../ledger/index.js';
import type { GroupResult } from '../check/groups.js';
import { type AskedLimit, refuseFull } from '../check/limit-exceeded.js';
import type { LimitStatus, RuleAtLevel } from '../check/limit-status.js';
import type { SubjectLevel } from '../rules/route-rules.js';
import { type Hold, type Lease, type LeaseInput, toBudgetLease, walletHoldsOf, withHolds } from './lease.js';
import { heldRule, heldRuleKey, type LeaseChanges } from './lease-changes.js';
import { limitsOfLease, refuseManyLimits, ruleCount } from './lease-size.js';
import { partOf, refuseMoreThanLeft, refuseUnfit, rulesBeside } from './parts.js';
import { withReserved } from './read-rules.js';
import type { HeldRule } from './reserved-store.js';
import type { FoundLease } from './store.js';

/** A request for a new lease. */
export interface OpenLeaseRequest extends KeyedRequest {
  readonly do: 'grant';
  readonly input: LeaseInput;
  /** Those of the subject; none without a route. */
  readonly levels: readonly SubjectLevel[];
  /**
   * The rules to reserve each hold of, in the order of the holds: of all levels or, for a part of a lease, of those
   * below the subject of that lease.
   */
  readonly rules: readonly (readonly RuleAtLevel[])[];
  /** The lease to take a part of, as it was found without a lock; undefined for none. */
  readonly parent: Lease | undefined;
  /** The limits on concurrent work of all levels, to take one of each; none for a part of a lease. */
  readonly slots: readonly RuleAtLevel[];
}

/** A request to close a lease. */
export interface CloseRequest {
  readonly do: 'close';
  readonly id: string;
  readonly ancestorIds: readonly string[];
  /** The lease as it was found without a lock, if it was. */
  readonly found?: FoundLease | undefined;
}

/** A request to let a lease live longer, or shorter. */
export interface RenewRequest {
  readonly do: 'renew';
  readonly id: string;
  readonly ancestorIds: readonly string[];
  readonly found?: FoundLease | undefined;
  readonly ttlSeconds: number;
}

/** A request that changes a lease. */
export type ChangeRequest = CloseRequest | RenewRequest;

/** A request with the rules that it depends on. */
export type RuledRequest = OpenLeaseRequest | ChangeRequest;

/** The results of requests. */
export type LeaseOutcomes = Map<RuledRequest, GroupResult<BudgetLease>>;

/** The data by which a group of lease requests is decided. It is locked, or the decisions depend on its versions. */
export interface LeaseState {
  readonly project: ProjectRef;
  /** Whether the project denies leases of subjects without a route. */
  readonly isDenied: boolean;
  /** The idempotency keys of the requests. */
  readonly keys: RequestKeys<BudgetLease>;
  /** The status of every rule that a lease may be reserved of, by `heldRuleKey`. */
  readonly statuses: ReadonlyMap<string, LimitStatus>;
  readonly wallets: WalletHolds;
  /** The leases to close or to renew, and those to take parts of; with their parents. */
  readonly leases: LeaseChanges;
  /** If too many leases are below those to close: the ids of the lowest ones, which are ended first. */
  readonly bottom?: readonly string[] | undefined;
  readonly clock: Clock;
}

/**
 * Decides lease requests one after the other, each by what those before it have left. The decisions are
 * written afterwards.
 */
export class LeaseDecisions {
  readonly #state: LeaseState;
  readonly nowS: number;

  constructor(state: LeaseState) {
    this.#state = state;
    this.nowS = unixSeconds(state.clock);
  }

  /**
   * @throws DomainError `unknown_subject`, `limit_exceeded`, `lease_exceeded`, `insufficient_funds`,
   * `idempotency_key_conflict`, `not_found`, `lease_not_active`
   */
  answer(request: RuledRequest): BudgetLease {
    if (request.do === 'close') return toBudgetLease(this.#close(request), this.nowS);
    if (request.do === 'renew') return toBudgetLease(this.#renew(request), this.nowS);
    const { keys } = this.#state;
    const earlier = keys.answerTo(request);
    if (earlier !== undefined) return withHolds(earlier);
    const answer = toBudgetLease(this.#grant(request), this.nowS);
    keys.keep(request, answer);
    return answer;
  }

  /** Reserves everything of all rules of all levels and of the wallets, or nothing. */
  #grant(request: OpenLeaseRequest): Lease {
    const { input, levels } = request;
    if (levels.length === 0 && this.#state.isDenied) {
      throw new DomainError('unknown_subject', {
        message: `The subject ${input.subject.type} ${input.subject.id} has no route, and the project denies such subjects.`,
      });
    }
    if (request.parent !== undefined) return this.#grantPart(request, request.parent.id);
    refuseManyLimits(input, ruleCount(request.rules));
    refuseFull(limitsAsked(request, (rule) => this.#statusOf(heldRule(rule))));
    const lease = this.#newLease(request, this.#holdWallets(request));
    this.#state.leases.add(lease);
    return lease;
  }

  /** Takes a part of another lease, and reserves it of the levels below the subject of that lease. */
  #grantPart(request: OpenLeaseRequest, parentId: string): Lease {
    const { leases } = this.#state;
    const parent = this.#found(parentId);
    if (this.#hasEnded(parent))
      throw new DomainError('lease_not_active', { message: 'The parent lease has ended.' });
    refuseUnfit(request, parent);
    refuseMoreThanLeft(request.input, parent);
    const own = { ...request, rules: rulesBeside(parent, request) };
    refuseFull(limitsAsked(own, (rule) => this.#statusOf(heldRule(rule))));
    const lease = partOf(parent, this.#newLease(own, []));
    refuseManyLimits(lease, limitsOfLease(lease));
    leases.addPart(lease, parent);
    return lease;
  }

  /**
   * Releases what the lease still holds; a lease that has ended stays as it is. With too many leases below, only the
   * lowest of them end, and the lease stays active: the request is to be repeated.
   */
  #close({ id }: CloseRequest): Lease {
    const lease = this.#found(id);
    if (lease.status !== 'active') return lease;
    const { leases, wallets, bottom } = this.#state;
    const isLater = bottom !== undefined && lease.hasChildren;
    const ending = isLater ? bottom.filter((one) => this.#found(one).ancestorIds.includes(id)) : [id];
    for (const one of ending) {
      const next = this.#found(one);
      if (next.status !== 'active') continue;
      for (const released of leases.end(next, this.nowS)) giveBackToWallets(wallets, released);
    }
    return this.#found(id);
  }

  /** A lease whose time has come has ended, even before a job releases what it holds. */
  #renew({ id, ttlSeconds }: RenewRequest): Lease {
    const lease = this.#found(id);
    if (this.#hasEnded(lease)) throw new DomainError('lease_not_active');
    const { leases } = this.#state;
    const parent = leases.parentOf(lease);
    const expiresAt = Math.min(this.nowS + ttlSeconds, parent?.expiresAt ?? Number.POSITIVE_INFINITY);
    const renewed = { ...lease, expiresAt };
    leases.change(renewed);
    for (const below of leases.below(renewed))
      if (below.expiresAt > expiresAt) leases.change({ ...below, expiresAt });
    return renewed;
  }

  #hasEnded({ status, expiresAt }: Lease): boolean {
    return status !== 'active' || expiresAt <= this.nowS;
  }

  #found(id: string): Lease {
    const lease = this.#state.leases.get(id);
    if (lease === undefined) throw new DomainError('not_found');
    return lease;
  }

  #statusOf(rule: HeldRule): LimitStatus {
    const { statuses, leases } = this.#state;
    const status = present(statuses.get(heldRuleKey(rule)), `the status of rule ${rule.ruleNo}`);
    const added = leases.reservedOf(rule);
    return added === 0n ? status : withReserved(status, added);
  }

  /** Returns for each hold whether a wallet holds it now: a prepaid one, which must have enough for it. */
  #holdWallets({ input, levels: [own] }: OpenLeaseRequest): boolean[] {
    const { project, wallets } = this.#state;
    const { tenantId, projectId } = project;
    const accountId = own?.route.account.id;
    const held: (WalletKey & { readonly amount: bigint })[] = [];
    return input.holds.map(({ kind, unit: currency, amount }, index) => {
      if (accountId === undefined || kind === 'quantity') return false;
      const wallet = { tenantId, projectId, accountId, currency };
      const outcome = wallets.reserve(wallet, amount);
      if (outcome === 'insufficient_funds') {
        for (const earlier of held) wallets.release(earlier);
        const path = input.isPlain ? 'amount' : `holds[${index}].amount`;
        throw insufficientFunds(wallet, wallets.availableIn(wallet), amount, path);
      }
      if (outcome === 'held') held.push({ ...wallet, amount });
      return outcome === 'held';
    });
  }

  #newLease(
    { input, levels: [own], rules, slots }: OpenLeaseRequest,
    holdsWallet: readonly boolean[],
  ): Lease {
    const { project, clock } = this.#state;
    const { subject, isPlain, metric, dimensions, ttlSeconds } = input;
    const holds = input.holds.map(
      (asked, index): Hold => ({
        ...asked,
        used: 0n,
        held: asked.amount,
        rules: present(rules[index], 'the rules of a hold').map(heldRule),
        holdsWallet: holdsWallet[index] === true,
      }),
    );
    return {
      id: newId('bl', clock),
      tenantId: project.tenantId,
      projectId: project.projectId,
      subject,
      accountId: own?.route.account.id ?? null,
      isPlain,
      holds,
      metric,
      dimensions,
      slots: slots.map(heldRule),
      ancestorIds: [],
      hasChildren: false,
      status: 'active',
      expiresAt: this.nowS + ttlSeconds,
      createdAt: this.nowS,
      closedAt: null,
    };
  }
}

/** Returns the scope of the idempotency keys of leases. */
export function keyScopeOf({ tenantId, projectId }: ProjectRef): KeyScope {
  return { tenantId, projectId, operation: 'budget_lease' };
}

/** Returns the requests for new leases. */
export function grantsOf(requests: readonly RuledRequest[]): OpenLeaseRequest[] {
  return requests.filter((request) => request.do === 'grant');
}

/** Decides requests in their order. */
export function outcomesOf(decisions: LeaseDecisions, requests: readonly RuledRequest[]): LeaseOutcomes {
  return new Map(requests.map((request) => [request, resultOf(() => decisions.answer(request))]));
}

/** Turns an error into a result, so that a request that fails does not fail the others. */
export function resultOf<Answer>(decide: () => Answer): GroupResult<Answer> {
  try {
    return { answer: decide() };
  } catch (error) {
    return { error };
  }
}

/** Returns what a request asks of each limit: a limit that selects several metrics may be asked for several holds. */
export function limitsAsked(
  { input, rules, slots }: OpenLeaseRequest,
  statusOf: (rule: RuleAtLevel) => LimitStatus,
): AskedLimit[] {
  const asked = new Map<string, AskedLimit>();
  const ask = (rule: RuleAtLevel, amount: bigint) => {
    const key = heldRuleKey(heldRule(rule));
    const before = asked.get(key);
    asked.set(key, { status: before?.status ?? statusOf(rule), asked: sumOrNone(before?.asked) + amount });
  };
  for (const [index, { amount }] of input.holds.entries())
    for (const rule of present(rules[index], 'the rules of a hold')) ask(rule, amount);
  for (const rule of slots) ask(rule, ONE_STORED);
  return [...asked.values()];
}

/** Releases what a lease holds of its wallets; the lease is passed as it was before its end. */
export function giveBackToWallets(wallets: WalletHolds, lease: Lease): void {
  for (const held of walletHoldsOf(lease)) wallets.release(held);
}
