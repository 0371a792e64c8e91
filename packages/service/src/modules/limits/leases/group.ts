import type { BudgetLease } from '@tollgate/contract';
import { unixSeconds } from '../../../kernel/clock.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { ProjectTx, type Tx, transaction } from '../../../platform/postgres/index.js';
import { KeysTaken, RequestKeys, WalletHolds, type WalletKey, writeKeys } from '../../ledger/index.js';
import type { GroupBefore, GroupEnd } from '../check/groups.js';
import { refuseFull } from '../check/limit-exceeded.js';
import type { LimitStatus, RuleAtLevel } from '../check/limit-status.js';
import { readUsageIn } from '../check/limit-status-store.js';
import { readDenials } from '../settings/store.js';
import {
  grantsOf,
  keyScopeOf,
  LeaseDecisions,
  type LeaseOutcomes,
  type LeaseState,
  limitsAsked,
  outcomesOf,
  type RuledRequest,
  resultOf,
} from './decisions.js';
import { type Lease, rulesHolding, walletsHolding } from './lease.js';
import { heldRule, heldRuleKey, LeaseChanges } from './lease-changes.js';
import { readRules } from './read-rules.js';
import { type LeaseRequest, type LevelsOfSubjects, partsOfGroup, withRules } from './request-rules.js';
import { changeReserved, type HeldRule, lockReserved } from './reserved-store.js';
import * as store from './store.js';
import {
  decideUnlocked,
  isPlainRequest,
  NOTHING_WRITTEN,
  payersOf,
  readUnlocked,
  type UnlockedDeps,
  type UnlockedOutcomes,
  type WrittenGroup,
} from './unlocked.js';

/** Upper bound of the attempts to decide a group, each of which finds another key used. */
const KEY_ATTEMPTS_MAX = 5;

/** Upper bound of the leases below others that one transaction ends. */
const LEASES_BELOW_MAX = 1_000;

/** Nothing is decided without a lock. */
const NONE: UnlockedOutcomes = { outcomes: new Map(), written: NOTHING_WRITTEN };

export interface LeaseGroupDeps extends UnlockedDeps {
  readonly limits: LevelsOfSubjects;
  /** See `LEASES_BELOW_MAX`. */
  readonly belowMax?: number;
}

/**
 * Decides lease requests of a project together, in their order: each by what those before it have left, with a fixed
 * number of statements for all. They are of one subject, or of subjects below the same one. A refused request leaves
 * nothing behind and does not affect the others. Requests of very many limits are decided in parts, one after the
 * other. Plain requests are decided without a lock; others, and those that lose against other processes, in one
 * transaction that locks what they depend on.
 */
export async function decideLeaseRequests(
  deps: LeaseGroupDeps,
  project: ProjectRef,
  requests: readonly LeaseRequest[],
  before?: GroupBefore<WrittenGroup>,
): Promise<GroupEnd<BudgetLease, WrittenGroup | undefined>> {
  const group = new LeaseGroup(deps, project);
  const [first = [], ...others] = partsOfGroup(await withRules(deps.limits, project, requests));
  let end = await group.answer(first, before);
  for (const part of others) {
    // The parts before have taken effect, and are answered whatever happens to this one.
    const results = await group.answer(part, undefined).then(
      (ended) => ended.results,
      (error: unknown) => part.map(() => ({ error })),
    );
    end = { results: [...end.results, ...results], left: undefined };
  }
  return end;
}

class LeaseGroup {
  readonly #deps: LeaseGroupDeps;
  readonly #project: ProjectRef;

  constructor(deps: LeaseGroupDeps, project: ProjectRef) {
    this.#deps = deps;
    this.#project = project;
  }

  async answer(
    requests: readonly RuledRequest[],
    before: GroupBefore<WrittenGroup>,
  ): Promise<GroupEnd<BudgetLease, WrittenGroup | undefined>> {
    const { outcomes: answered, written } = await this.#answerUnlocked(requests, before);
    await before;
    const others = requests.filter((request) => !answered.has(request));
    const decided: LeaseOutcomes = others.length === 0 ? new Map() : await this.#answerLocked(others);
    const results = requests.flatMap((request) => answered.get(request) ?? decided.get(request) ?? []);
    return { results, left: others.length === 0 ? written : undefined };
  }

  /** Answers without a transaction: all requests if they are plain and nobody interferes, and what has no room. */
  async #answerUnlocked(
    requests: readonly RuledRequest[],
    before: GroupBefore<WrittenGroup>,
  ): Promise<UnlockedOutcomes> {
    const rules = rulesOf(requests);
    const isPlain = requests.every(isPlainRequest);
    const isAnyClosed = requests.some(({ do: kind }) => kind === 'close');
    if (!isPlain && (rules.length === 0 || isAnyClosed)) return NONE;
    const read = await readUnlocked(this.#deps, this.#project, rules, isPlain ? requests : [], before);
    const isKnown = Array.from(read.versions.values()).every((version) => version !== undefined);
    const answered =
      isPlain && isKnown ? await decideUnlocked(this.#deps, this.#project, requests, read) : undefined;
    if (answered !== undefined || isAnyClosed) return answered ?? NONE;
    return { outcomes: refuseAtOnce(requests, read.statuses), written: NOTHING_WRITTEN };
  }

  /** A key that another process uses meanwhile has an answer when the group is decided again. */
  async #answerLocked(requests: readonly RuledRequest[]): Promise<LeaseOutcomes> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await transaction(this.#deps.postgres, (tx) => this.#decide(tx, requests));
      } catch (error) {
        if (!(error instanceof KeysTaken) || attempt === KEY_ATTEMPTS_MAX) throw error;
      }
    }
  }

  async #decide(tx: Tx, requests: readonly RuledRequest[]): Promise<LeaseOutcomes> {
    const state = await this.#lock(tx, requests);
    const outcomes = outcomesOf(new LeaseDecisions(state), requests);
    await this.#write(tx, state);
    return outcomes;
  }

  /** Locks and reads everything that the requests are about, in the order that all transactions use. */
  async #lock(tx: Tx, requests: readonly RuledRequest[]): Promise<LeaseState> {
    const project = this.#project;
    const { clock } = this.#deps;
    const { projectNo } = project;
    const grants = grantsOf(requests);
    const { leases, bottom } = await this.#lockLeases(new ProjectTx(tx, project), requests);
    const ending = releasedBy(requests, leases);
    const rules = rulesOf(requests);
    await lockReserved(tx, projectNo, rulesToLock(rules, ending));
    const { statuses } = await readRules(clock, project, rules, async (query) =>
      present((await readUsageIn(tx, [query]))[0], 'the use of the rules'),
    );
    const paying = [...ending.flatMap((lease) => lease.wallets), ...payersOf(project, grants)];
    const wallets = await WalletHolds.lock(tx, paying, clock);
    const isAnyUnknown = grants.some(({ levels }) => levels.length === 0);
    const isDenied = isAnyUnknown && (await readDenials(tx, [project])).includes(true);
    const keys = await RequestKeys.read<BudgetLease>(tx, keyScopeOf(project), grants);
    return { project, isDenied, keys, statuses, wallets, leases, bottom, clock };
  }

  /** Locks the leases that requests name, with all their ancestors, and then those below the ones to close. */
  async #lockLeases(
    tx: ProjectTx,
    requests: readonly RuledRequest[],
  ): Promise<Pick<LeaseState, 'leases' | 'bottom'>> {
    const { belowMax = LEASES_BELOW_MAX } = this.#deps;
    const named = requests.flatMap((request) => {
      if (request.do !== 'grant') return [request.id, ...request.ancestorIds];
      return request.parent === undefined ? [] : [request.parent.id, ...request.parent.ancestorIds];
    });
    const locked = await store.lockLeases(tx, [...new Set(named)]);
    const above = new Map(locked.filter(({ hasChildren }) => hasChildren).map((lease) => [lease.id, lease]));
    const closing = new Set(requests.flatMap((request) => (request.do === 'close' ? request.id : [])));
    const ending = [...closing].filter((id) => above.has(id));
    const { leases, bottom } = await store.lockLeasesBelow(tx, ending, belowMax);
    // Leases that end before a renewal in the group are written as they were read here.
    await this.#shortenBelow(tx, requests, above);
    return {
      leases: new LeaseChanges(this.#project.projectNo, [...locked, ...leases]),
      bottom: bottom.length < belowMax ? undefined : bottom.map(({ id }) => id),
    };
  }

  /** Shortens the lives of all leases below those whose renewal ends them earlier. */
  async #shortenBelow(
    tx: ProjectTx,
    requests: readonly RuledRequest[],
    above: ReadonlyMap<string, Lease>,
  ): Promise<void> {
    const nowS = unixSeconds(this.#deps.clock);
    for (const request of requests) {
      if (request.do !== 'renew') continue;
      const { id, ttlSeconds } = request;
      const lease = above.get(id);
      if (lease?.status !== 'active' || lease.expiresAt <= nowS) continue;
      if (nowS + ttlSeconds < lease.expiresAt) await store.shortenLeasesBelow(tx, id, nowS + ttlSeconds);
    }
  }

  async #write(tx: Tx, { keys, wallets, leases }: LeaseState): Promise<void> {
    await changeReserved(tx, leases.reserved);
    await wallets.write(tx);
    await store.insertLeases(tx, leases.added);
    await store.updateLeases(tx, leases.changed);
    await writeKeys(tx, keyScopeOf(this.#project), keys, unixSeconds(this.#deps.clock));
  }
}

/**
 * Refuses without a lock what clearly has no room, so that it does not wait for the others. Not requests with an
 * idempotency key: they may have been granted before.
 */
function refuseAtOnce(
  requests: readonly RuledRequest[],
  statuses: ReadonlyMap<string, LimitStatus>,
): LeaseOutcomes {
  const refused: LeaseOutcomes = new Map();
  for (const request of requests) {
    if (request.do !== 'grant' || request.key !== undefined || request.parent !== undefined) continue;
    const limits = limitsAsked(request, (rule) =>
      present(statuses.get(heldRuleKey(heldRule(rule))), 'a status'),
    );
    const outcome = resultOf(() => refuseFull(limits));
    if ('error' in outcome) refused.set(request, outcome);
  }
  return refused;
}

/** Returns the rules of all requests, each once. */
function rulesOf(requests: readonly RuledRequest[]): RuleAtLevel[] {
  const lists = requests.flatMap((request) =>
    request.do === 'grant' ? [...request.rules, request.slots] : [],
  );
  const rules = Array.from(new Set(lists)).flat();
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
function releasedBy(requests: readonly RuledRequest[], leases: LeaseChanges): Releasable[] {
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
