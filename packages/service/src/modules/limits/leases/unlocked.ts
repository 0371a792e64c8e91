import type { BudgetLease } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import {
  findWallets,
  RequestKeys,
  WalletHolds,
  type WalletKey,
  type WalletState,
  walletKeyText,
} from '../../ledger/index.js';
import type { GroupBefore } from '../check/groups.js';
import type { RuleAtLevel } from '../check/limit-status.js';
import { readUsage } from '../check/limit-status-store.js';
import {
  grantsOf,
  keyScopeOf,
  LeaseDecisions,
  type LeaseOutcomes,
  type OpenLeaseRequest,
  outcomesOf,
  type RuledRequest,
} from './decisions.js';
import {
  type KnownLeases,
  knownLeases,
  leasesToLock,
  parentsOf,
  type WrittenLeases,
  writtenLeases,
} from './known-leases.js';
import type { Lease } from './lease.js';
import { heldRule, heldRuleKey, LeaseChanges } from './lease-changes.js';
import { type ReadRules, readRules, type WrittenRule, type WrittenRules, withWritten } from './read-rules.js';
import { findLeases } from './store.js';
import { type GroupChanges, type RuleChange, writeIfUnchanged } from './unlocked-store.js';

export interface UnlockedDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/** The data of a group of requests that was read without a lock. */
export interface UnlockedRead extends ReadRules {
  readonly keys: RequestKeys<BudgetLease>;
  /** The wallets that pay for new leases and are prepaid. */
  readonly wallets: readonly WalletState[];
  readonly leases: KnownLeases;
}

/** The changes that a group without a lock has written. */
export interface WrittenGroup {
  readonly rules: WrittenRules;
  readonly leases: WrittenLeases;
}

export const NOTHING_WRITTEN: WrittenGroup = { rules: new Map(), leases: new Map() };

/**
 * Reads rules, parents of leases, and the keys and prepaid wallets of new leases, without a lock. Rules and parents are
 * read while the group before writes, and what it has written is added; the rest is read after it.
 *
 * @param requests those to decide by what is read
 */
export async function readUnlocked(
  deps: UnlockedDeps,
  project: ProjectRef,
  rules: readonly RuleAtLevel[],
  requests: readonly RuledRequest[],
  before?: GroupBefore<WrittenGroup>,
): Promise<UnlockedRead> {
  const { postgres, clock } = deps;
  const grants = grantsOf(requests);
  const payers = payersOf(project, grants);
  const prepaid: WalletKey[] = [];
  const wallets = payers.map((wallet) => ({ ...project, rules: [], wallet }));
  const parents = parentsOf(project, requests);
  const reading = readRules(clock, project, rules, async (query) => {
    if (rules.length + wallets.length === 0) return { counted: [], available: undefined };
    const [ofRules, ...ofWallets] = await readUsage(postgres, [query, ...wallets]);
    for (const [at, { available }] of ofWallets.entries())
      if (available !== undefined) prepaid.push(present(payers[at], 'a wallet'));
    return present(ofRules, 'the use of the rules');
  });
  const found = parents.length === 0 ? [] : findLeases(postgres, parents);
  const [read, foundParents] = await Promise.all([reading, found]);
  const written = before === undefined ? NOTHING_WRITTEN : await before;
  if (written === undefined) return readUnlocked(deps, project, rules, requests);
  const holding = prepaid.length === 0 ? [] : await findWallets(postgres, prepaid);
  const keys = await RequestKeys.read<BudgetLease>(postgres, keyScopeOf(project), grants);
  const leases = knownLeases(requests, foundParents, written.leases);
  return { ...withWritten(read, written.rules), keys, wallets: holding, leases };
}

/**
 * Whether a request depends on nothing but its lease, the parent of that, rules, an idempotency key and wallets: not on
 * a project's setting for unknown subjects, or on leases below its own.
 */
export function isPlainRequest(request: RuledRequest): boolean {
  if (request.do === 'grant') return request.levels.length > 0;
  return request.found?.lease.hasChildren === false;
}

/** The outcomes of a group that was decided without a lock, and what it has written. */
export interface UnlockedOutcomes {
  readonly outcomes: LeaseOutcomes;
  readonly written: WrittenGroup;
}

/**
 * Decides plain requests by what was read without a lock, and writes the decisions in one statement, if the reserved
 * amounts and the leases are still those that were read, the wallets can hold what they are asked for, and the keys are
 * free. Usage that a worker posts meanwhile counts as usage after the decision: usage is never refused.
 *
 * @returns undefined if nothing was written: others have changed what was read, a credit has expired, or a lease to
 * change has got a part
 */
export async function decideUnlocked(
  { postgres, clock }: UnlockedDeps,
  project: ProjectRef,
  requests: readonly RuledRequest[],
  read: UnlockedRead,
): Promise<UnlockedOutcomes | undefined> {
  const wallets = WalletHolds.unlocked(read.wallets, clock);
  if (wallets === undefined) return undefined;
  const isAnyDivided = requests.some(
    (request) => request.do !== 'grant' && read.leases.get(request.id)?.lease.hasChildren === true,
  );
  if (isAnyDivided) return undefined;
  const leases = new LeaseChanges(
    project.projectNo,
    Array.from(read.leases.values(), ({ lease }) => lease),
  );
  const { keys, statuses } = read;
  const state = { project, statuses, leases, keys, wallets, clock, isDenied: false };
  const outcomes = outcomesOf(new LeaseDecisions(state), requests);
  const { added, changed } = leases;
  if (added.length + changed.length === 0) return { outcomes, written: NOTHING_WRITTEN };
  const locks = leasesToLock(read.leases, changed);
  const rules = ruleChanges(project, leases, read);
  const changes: GroupChanges = {
    rules,
    leases: locks,
    added,
    unheld: unheldWalletsOf(added),
    holds: wallets.changes,
    keys: keys.kept,
  };
  const version = await writeIfUnchanged(postgres, project, changes, unixSeconds(clock));
  if (version === undefined) return undefined;
  return {
    outcomes,
    written: { rules: writtenRules(rules, version), leases: writtenLeases(locks, version) },
  };
}

/** A change of 0 writes no new version, and one that does not depend on a version is unknown before. */
function writtenRules(rules: readonly RuleChange[], to: string): WrittenRules {
  const written = new Map<string, WrittenRule>();
  for (const { amount, version: from, ...rule } of rules)
    if (amount !== 0n && from !== undefined) written.set(heldRuleKey(rule), { from, to, amount });
  return written;
}

/** Returns the changes of rules, and all rules that the decisions depend on. */
function ruleChanges(
  { projectNo }: ProjectRef,
  { reserved }: LeaseChanges,
  { statuses, versions }: ReadRules,
): RuleChange[] {
  const rules = new Map<string, RuleChange>();
  for (const status of statuses.values()) {
    const held = heldRule(status);
    const key = heldRuleKey(held);
    rules.set(key, { ...held, projectNo, amount: 0n, version: versions.get(key) });
  }
  for (const change of reserved) {
    const key = heldRuleKey(change);
    rules.set(key, { ...change, version: versions.get(key) });
  }
  return [...rules.values()];
}

/** Returns the wallets that pay for amounts of new leases, each once. */
export function payersOf(
  { tenantId, projectId }: ProjectRef,
  grants: readonly OpenLeaseRequest[],
): WalletKey[] {
  const wallets = new Map<string, WalletKey>();
  for (const { input, parent, levels } of grants) {
    const accountId = levels[0]?.route.account.id;
    if (accountId === undefined || parent !== undefined) continue;
    for (const { kind, unit: currency } of input.holds) {
      const wallet = { tenantId, projectId, accountId, currency };
      if (kind === 'amount') wallets.set(walletKeyText(wallet), wallet);
    }
  }
  return [...wallets.values()];
}

/** Returns the wallets that pay for amounts of these leases and hold none of them, each once; parts hold as parents. */
function unheldWalletsOf(leases: readonly Lease[]): WalletKey[] {
  const wallets = new Map<string, WalletKey>();
  for (const { tenantId, projectId, accountId, holds, ancestorIds } of leases) {
    if (accountId === null || ancestorIds.length > 0) continue;
    for (const { kind, unit: currency, holdsWallet } of holds) {
      const wallet = { tenantId, projectId, accountId, currency };
      if (kind === 'amount' && !holdsWallet) wallets.set(walletKeyText(wallet), wallet);
    }
  }
  return [...wallets.values()];
}
