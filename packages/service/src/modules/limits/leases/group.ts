import type { BudgetLease } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { type Postgres, ProjectTx, type Tx, transaction } from '../../../platform/postgres/index.js';
import { RequestKeys, WalletHolds, type WalletKey } from '../../ledger/index.js';
import type { GroupResult } from '../check/groups.js';
import { refuseFull } from '../check/limit-exceeded.js';
import { type LimitStatus, limitStatusesOf, openRules } from '../check/limit-status.js';
import { readCountedIn } from '../check/limit-status-store.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import type { CompiledRoute, LimitedSubject } from '../rules/route-rules.js';
import type { CompiledRule } from '../rules/rule.js';
import { readDenials } from '../settings/store.js';
import { type CloseRequest, LeaseDecisions, type LeaseState, type OpenLeaseRequest } from './decisions.js';
import { ended, type Lease, reservedAmountsOf, rulesOfLease, walletOf } from './lease.js';
import { changeReserved, lockReserved, negated } from './reserved-store.js';
import * as store from './store.js';

export interface LeaseGroupDeps {
  readonly postgres: Postgres;
  readonly limits: Pick<SubjectLimits, 'routeOf' | 'statuses'>;
  readonly clock: Clock;
}

/** A request for a new lease, or to close one. */
export type LeaseRequest = Omit<OpenLeaseRequest, 'rules'> | CloseRequest;

type Request = OpenLeaseRequest | CloseRequest;
type Outcomes = Map<Request, GroupResult<BudgetLease>>;

/**
 * Decides the lease requests of one subject in one transaction, in their order: each by what those before it have left,
 * with a fixed number of statements for all. A refused request leaves nothing behind and does not affect the others.
 */
export async function decideLeaseRequests(
  deps: LeaseGroupDeps,
  project: ProjectRef,
  subject: LimitedSubject,
  requests: readonly LeaseRequest[],
): Promise<GroupResult<BudgetLease>[]> {
  const route = await deps.limits.routeOf(project.projectId, subject);
  const ruled = requests.map((request): Request => {
    if (request.do === 'close') return request;
    return { ...request, rules: route === undefined ? [] : rulesOfLease(route, request.input) };
  });
  return new LeaseGroup(deps, project, subject, route).answer(ruled);
}

class LeaseGroup {
  readonly #deps: LeaseGroupDeps;
  readonly #project: ProjectRef;
  readonly #subject: LimitedSubject;
  readonly #route: CompiledRoute | undefined;

  constructor(
    deps: LeaseGroupDeps,
    project: ProjectRef,
    subject: LimitedSubject,
    route: CompiledRoute | undefined,
  ) {
    this.#deps = deps;
    this.#project = project;
    this.#subject = subject;
    this.#route = route;
  }

  async answer(requests: readonly Request[]): Promise<GroupResult<BudgetLease>[]> {
    const refused = await this.#refuseAtOnce(requests);
    const others = requests.filter((request) => !refused.has(request));
    const decided: Outcomes =
      others.length === 0
        ? new Map()
        : await transaction(this.#deps.postgres, (tx) => this.#decide(tx, others));
    return requests.flatMap((request) => refused.get(request) ?? decided.get(request) ?? []);
  }

  /**
   * Refuses without a lock what clearly has no room, so that it does not wait for the others. This is not done when a
   * request before it closes a lease, nor for requests with an idempotency key: they may have been granted before.
   */
  async #refuseAtOnce(requests: readonly Request[]): Promise<Outcomes> {
    const refused: Outcomes = new Map();
    const rules = rulesOf(requests);
    if (this.#route === undefined || rules.length === 0 || requests.some(({ do: kind }) => kind === 'close'))
      return refused;
    const route = this.#route,
      subject = this.#subject;
    const { limits } = this.#deps;
    const statuses = byRuleNo(await limits.statuses(this.#project, subject, route, rules));
    for (const request of requests) {
      if (request.do === 'close' || request.key !== undefined) continue;
      const ofRequest = request.rules.flatMap(({ ruleNo }) => statuses.get(ruleNo) ?? []);
      const outcome = outcomeOf(() => refuseFull(route, subject, ofRequest, request.input.amount));
      if ('error' in outcome) refused.set(request, outcome);
    }
    return refused;
  }

  async #decide(tx: Tx, requests: readonly Request[]): Promise<Outcomes> {
    const state = await this.#lock(tx, requests);
    const decisions = new LeaseDecisions(state);
    const outcomes = new Map(
      requests.map((request) => [request, outcomeOf(() => decisions.answer(request))]),
    );
    await this.#write(tx, state, decisions);
    return outcomes;
  }

  /** Locks and reads everything that the requests are about, in the order that all transactions use. */
  async #lock(tx: Tx, requests: readonly Request[]): Promise<LeaseState> {
    const project = this.#project,
      subject = this.#subject,
      route = this.#route;
    const { clock } = this.#deps;
    const { tenantId, projectId, projectNo } = project;
    const grants = requests.filter((request) => request.do === 'grant');
    const scope = { tenantId, projectId, operation: 'budget_lease' };
    const keys = await RequestKeys.take<BudgetLease>(tx, scope, grants, unixSeconds(clock));
    const closing = requests.flatMap((request) => (request.do === 'close' ? request.id : []));
    const leases = await store.lockLeases(new ProjectTx(tx, project), closing);
    const rules = rulesOf(requests);
    await lockReserved(tx, projectNo, subject, ruleNosOf(rules, leases));
    const statuses = byRuleNo(await this.#statuses(tx, rules));
    const wallets = await WalletHolds.lock(tx, this.#walletsOf(grants, leases), clock);
    const byId = new Map(leases.map((lease) => [lease.id, lease]));
    const isDenied = route === undefined && (await readDenials(tx, [project])).includes(true);
    return { project, route, isDenied, keys, statuses, wallets, leases: byId, clock };
  }

  async #statuses(tx: Tx, rules: readonly CompiledRule[]): Promise<LimitStatus[]> {
    if (this.#route === undefined) return [];
    const open = openRules(this.#route, rules, unixSeconds(this.#deps.clock));
    const { projectNo } = this.#project;
    const asked = open.map(({ rule, window }) => ({ rule, window, value: undefined }));
    const counted = await readCountedIn(tx, { projectNo, subject: this.#subject, rules: asked });
    return limitStatusesOf(this.#route, open, counted, this.#deps.clock.nowMs());
  }

  #walletsOf(grants: readonly OpenLeaseRequest[], leases: readonly Lease[]): WalletKey[] {
    const { tenantId, projectId } = this.#project;
    const accountId = this.#route?.account.id;
    return [
      ...leases.flatMap((lease) => walletOf(lease) ?? []),
      ...(accountId === undefined
        ? []
        : grants.map(({ input: { currency } }) => ({ tenantId, projectId, accountId, currency }))),
    ];
  }

  async #write(tx: Tx, { keys, wallets }: LeaseState, decisions: LeaseDecisions): Promise<void> {
    const { granted, nowS } = decisions;
    const closed = [...decisions.closed.values()];
    const heldBy = (lease: Lease) => reservedAmountsOf(lease, this.#project.projectNo);
    await changeReserved(tx, [...granted.flatMap(heldBy), ...closed.flatMap(heldBy).map(negated)]);
    await wallets.write(tx);
    await store.insertLeases(tx, granted);
    await store.updateEnded(
      tx,
      closed.map((lease) => ended(lease, nowS)),
    );
    await keys.write(tx);
  }
}

/** Returns the rules of all requests, each once. */
function rulesOf(requests: readonly Request[]): CompiledRule[] {
  return [...new Set(requests.flatMap((request) => (request.do === 'grant' ? request.rules : [])))];
}

/** Returns the numbers of the rules to lock: those to reserve of, and those of the leases to close. */
function ruleNosOf(rules: readonly CompiledRule[], leases: readonly Lease[]): number[] {
  const held = leases.flatMap((lease) => (lease.held > 0n ? lease.ruleNos : []));
  return [...new Set([...rules.map(({ ruleNo }) => ruleNo), ...held])];
}

function byRuleNo(statuses: readonly LimitStatus[]): Map<number, LimitStatus> {
  return new Map(statuses.map((status) => [status.rule.ruleNo, status]));
}

/** Turns an error into a result, so that a request that fails does not fail the others. */
function outcomeOf<Answer>(decide: () => Answer): GroupResult<Answer> {
  try {
    return { answer: decide() };
  } catch (error) {
    return { error };
  }
}
