import type { BudgetLease } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { type Postgres, ProjectTx, type Tx, transaction } from '../../../platform/postgres/index.js';
import { RequestKeys, WalletHolds, type WalletKey } from '../../ledger/index.js';
import type { GroupResult } from '../check/groups.js';
import { refuseFull } from '../check/limit-exceeded.js';
import { type LimitStatus, limitStatusesOf, openRules, type RuleAtLevel } from '../check/limit-status.js';
import { readUsageIn } from '../check/limit-status-store.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import { readDenials } from '../settings/store.js';
import {
  type ChangeRequest,
  LeaseDecisions,
  type LeaseState,
  limitsAsked,
  type OpenLeaseRequest,
} from './decisions.js';
import { rulesHolding, rulesOfHold, walletsHolding } from './lease.js';
import { heldRule, heldRuleKey, LockedLeases } from './locked-leases.js';
import { levelsBelow } from './parts.js';
import { changeReserved, type HeldRule, lockReserved } from './reserved-store.js';
import * as store from './store.js';

export interface LeaseGroupDeps {
  readonly postgres: Postgres;
  readonly limits: Pick<SubjectLimits, 'levelsOf' | 'statuses' | 'usage'>;
  readonly clock: Clock;
}

/** A request for a new lease, or to change one. */
export type LeaseRequest = Omit<OpenLeaseRequest, 'levels' | 'rules' | 'slots'> | ChangeRequest;

type Request = OpenLeaseRequest | ChangeRequest;
type Outcomes = Map<Request, GroupResult<BudgetLease>>;

/**
 * Decides lease requests of a project in one transaction, in their order: each by what those before it have left, with
 * a fixed number of statements for all. They are of one subject, or of subjects below the same one. A refused request
 * leaves nothing behind and does not affect the others.
 */
export async function decideLeaseRequests(
  deps: LeaseGroupDeps,
  project: ProjectRef,
  requests: readonly LeaseRequest[],
): Promise<GroupResult<BudgetLease>[]> {
  const subjects = requests.flatMap((request) => (request.do === 'grant' ? request.input.subject : []));
  const levels = (await deps.limits.levelsOf(project.projectId, subjects))[Symbol.iterator]();
  const ruled = requests.map((request): Request => {
    if (request.do !== 'grant') return request;
    const ofSubject = present(levels.next().value, 'the levels of a subject');
    const { input, parent } = request;
    const asked =
      parent === undefined ? ofSubject : (levelsBelow(ofSubject, input.subject, parent.subject) ?? []);
    const rules = input.holds.map((hold) => asked.flatMap((level) => rulesOfHold(level, hold, input)));
    const levelsOfSlots = parent === undefined ? ofSubject : [];
    const slots = levelsOfSlots.flatMap((at) => at.route.rules.ofLeases.map((rule) => ({ at, rule })));
    return { ...request, levels: ofSubject, rules, slots };
  });
  return new LeaseGroup(deps, project).answer(ruled);
}

class LeaseGroup {
  readonly #deps: LeaseGroupDeps;
  readonly #project: ProjectRef;

  constructor(deps: LeaseGroupDeps, project: ProjectRef) {
    this.#deps = deps;
    this.#project = project;
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
    if (rules.length === 0 || requests.some(({ do: kind }) => kind === 'close')) return refused;
    const statuses = byRule(await this.#deps.limits.statuses(this.#project, rules));
    for (const request of requests) {
      if (request.do !== 'grant' || request.key !== undefined || request.parent !== undefined) continue;
      const limits = limitsAsked(request, (rule) =>
        present(statuses.get(heldRuleKey(heldRule(rule))), 'a status'),
      );
      const outcome = outcomeOf(() => refuseFull(limits));
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
    await this.#write(tx, state);
    return outcomes;
  }

  /** Locks and reads everything that the requests are about, in the order that all transactions use. */
  async #lock(tx: Tx, requests: readonly Request[]): Promise<LeaseState> {
    const project = this.#project;
    const { clock } = this.#deps;
    const { tenantId, projectId, projectNo } = project;
    const grants = requests.filter((request) => request.do === 'grant');
    const scope = { tenantId, projectId, operation: 'budget_lease' };
    const keys = await RequestKeys.take<BudgetLease>(tx, scope, grants, unixSeconds(clock));
    const leases = await this.#lockLeases(new ProjectTx(tx, project), requests);
    const ending = releasedBy(requests, leases);
    const rules = rulesOf(requests);
    await lockReserved(tx, projectNo, rulesToLock(rules, ending));
    const statuses = byRule(await this.#statuses(tx, rules));
    const wallets = await WalletHolds.lock(tx, this.#walletsOf(grants, ending), clock);
    const isAnyUnknown = grants.some(({ levels }) => levels.length === 0);
    const isDenied = isAnyUnknown && (await readDenials(tx, [project])).includes(true);
    return { project, isDenied, keys, statuses, wallets, leases, clock };
  }

  /** Locks the leases that requests name, with all their ancestors, and then those below the ones to change. */
  async #lockLeases(tx: ProjectTx, requests: readonly Request[]): Promise<LockedLeases> {
    const named = requests.flatMap((request) => {
      if (request.do !== 'grant') return [request.id, ...request.ancestorIds];
      return request.parent === undefined ? [] : [request.parent.id, ...request.parent.ancestorIds];
    });
    const leases = await store.lockLeases(tx, [...new Set(named)]);
    const changing = new Set(requests.flatMap((request) => (request.do === 'grant' ? [] : request.id)));
    const above = leases.filter(({ id, hasChildren }) => hasChildren && changing.has(id));
    const below = await store.lockLeasesBelow(
      tx,
      above.map(({ id }) => id),
    );
    return new LockedLeases(this.#project.projectNo, [...leases, ...below]);
  }

  async #statuses(tx: Tx, rules: readonly RuleAtLevel[]): Promise<LimitStatus[]> {
    const open = openRules(rules, unixSeconds(this.#deps.clock));
    const asked = open.map((rule) => ({ ...rule, value: undefined }));
    const { counted } = await readUsageIn(tx, { ...this.#project, rules: asked, wallet: undefined });
    return limitStatusesOf(open, counted, this.#deps.clock.nowMs());
  }

  #walletsOf(grants: readonly OpenLeaseRequest[], ending: readonly Releasable[]): WalletKey[] {
    const { tenantId, projectId } = this.#project;
    return [
      ...ending.flatMap(({ wallets }) => wallets),
      ...grants.flatMap(({ input: { holds }, parent, levels: [own] }) =>
        holds.flatMap(({ kind, unit: currency }) =>
          own === undefined || parent !== undefined || kind === 'quantity'
            ? []
            : { tenantId, projectId, accountId: own.route.account.id, currency },
        ),
      ),
    ];
  }

  async #write(tx: Tx, { keys, wallets, leases }: LeaseState): Promise<void> {
    await changeReserved(tx, leases.reserved);
    await wallets.write(tx);
    await store.insertLeases(tx, leases.added);
    await store.updateLeases(tx, leases.changed);
    await keys.write(tx);
  }
}

/** Returns the rules of all requests, each once. */
function rulesOf(requests: readonly Request[]): RuleAtLevel[] {
  const rules = requests.flatMap((request) =>
    request.do === 'grant' ? [...request.rules.flat(), ...request.slots] : [],
  );
  return [...new Map(rules.map((rule) => [heldRuleKey(heldRule(rule)), rule])).values()];
}

/** The rules and the wallets that the end of a lease may release. */
interface Releasable {
  readonly rules: readonly HeldRule[];
  readonly wallets: readonly WalletKey[];
}

/**
 * Returns what requests may release: of the leases to close, and of those below them. Rules and wallets of its parent
 * go on holding what a lease gives back to it; they are among those of the parent, if that ends too.
 */
function releasedBy(requests: readonly Request[], leases: LockedLeases): Releasable[] {
  const closing = requests.flatMap((request) =>
    request.do === 'close' ? (leases.get(request.id) ?? []) : [],
  );
  const ending = closing.flatMap((lease) => [lease, ...leases.below(lease)]);
  return ending.flatMap((lease): Releasable[] => {
    if (lease.status !== 'active') return [];
    const parent = leases.parentOf(lease);
    if (parent === undefined) return [{ rules: rulesHolding(lease), wallets: walletsHolding(lease) }];
    const kept = new Set(parent.holds.flatMap(({ rules }) => rules.map(heldRuleKey)));
    return [{ rules: rulesHolding(lease).filter((rule) => !kept.has(heldRuleKey(rule))), wallets: [] }];
  });
}

/** Returns the rules to lock, each once: those to reserve of, and those of the leases to end. */
function rulesToLock(rules: readonly RuleAtLevel[], ending: readonly Releasable[]): HeldRule[] {
  const held = [...rules.map(heldRule), ...ending.flatMap((lease) => lease.rules)];
  return [...new Map(held.map((rule) => [heldRuleKey(rule), rule])).values()];
}

function byRule(statuses: readonly LimitStatus[]): Map<string, LimitStatus> {
  return new Map(statuses.map((status) => [heldRuleKey(heldRule(status)), status]));
}

/** Turns an error into a result, so that a request that fails does not fail the others. */
function outcomeOf<Answer>(decide: () => Answer): GroupResult<Answer> {
  try {
    return { answer: decide() };
  } catch (error) {
    return { error };
  }
}
