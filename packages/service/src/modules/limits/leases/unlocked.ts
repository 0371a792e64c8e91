import type { BudgetLease } from '@tollgate/contract';
import type { Clock } from '../../../kernel/clock.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { RequestKeys, WalletHolds, type WalletKey } from '../../ledger/index.js';
import { type LimitStatus, limitStatusesOf, openRules, type RuleAtLevel } from '../check/limit-status.js';
import { readUsage } from '../check/limit-status-store.js';
import {
  keyScopeOf,
  LeaseDecisions,
  type LeaseOutcomes,
  outcomesOf,
  type RuledRequest,
} from './decisions.js';
import type { Lease } from './lease.js';
import { heldRule, heldRuleKey, LeaseChanges } from './lease-changes.js';
import type { FoundLease } from './store.js';
import { type RuleChange, writeIfUnchanged } from './unlocked-store.js';

export interface UnlockedDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/** The rules of a group, as they were read without a lock. */
export interface UnlockedRules {
  readonly statuses: ReadonlyMap<string, LimitStatus>;
  /** The versions of their reserved amounts; undefined for rules of which nothing was ever reserved. */
  readonly versions: ReadonlyMap<string, string | undefined>;
}

/** Reads the rules of a group as of one moment, by `heldRuleKey`. */
export async function readUnlocked(
  { postgres, clock }: UnlockedDeps,
  project: ProjectRef,
  rules: readonly RuleAtLevel[],
): Promise<UnlockedRules> {
  if (rules.length === 0) return { statuses: new Map(), versions: new Map() };
  const nowMs = clock.nowMs();
  const open = openRules(rules, Math.floor(nowMs / 1_000));
  const asked = open.map((rule) => ({ ...rule, value: undefined }));
  const [read] = await readUsage(postgres, [{ ...project, rules: asked, wallet: undefined }]);
  const { counted } = present(read, 'the use of the rules');
  const keys = rules.map((rule) => heldRuleKey(heldRule(rule)));
  const statuses = limitStatusesOf(open, counted, nowMs);
  return {
    statuses: new Map(statuses.map((status, index) => [present(keys[index], 'a rule'), status])),
    versions: new Map(keys.map((key, index) => [key, counted[index]?.reservedVersion])),
  };
}

/**
 * Whether a request depends on nothing but its lease, and on rules: not on an idempotency key, a project's setting for
 * unknown subjects, other leases, or a wallet that holds.
 */
export function isPlainRequest(request: RuledRequest): boolean {
  if (request.do === 'grant')
    return request.key === undefined && request.parent === undefined && request.levels.length > 0;
  const lease = request.found?.lease;
  if (lease === undefined || lease.hasChildren || lease.ancestorIds.length > 0) return false;
  return request.do === 'renew' || !lease.holds.some(({ holdsWallet }) => holdsWallet);
}

/**
 * Decides plain requests by what was read without a lock, and writes the decisions in one statement, if the reserved
 * amounts and the leases are still those that were read. Usage that a worker posts meanwhile counts as usage after the
 * decision: usage is never refused.
 *
 * @returns undefined if nothing was written, because others have changed what was read, or a wallet has to hold a lease
 */
export async function decideUnlocked(
  { postgres, clock }: UnlockedDeps,
  project: ProjectRef,
  requests: readonly RuledRequest[],
  { statuses, versions }: UnlockedRules,
): Promise<LeaseOutcomes | undefined> {
  const { projectNo } = project;
  const found = new Map<string, FoundLease>();
  for (const request of requests)
    if (request.do !== 'grant' && request.found !== undefined) found.set(request.id, request.found);
  const leases = new LeaseChanges(
    projectNo,
    Array.from(found.values(), ({ lease }) => lease),
  );
  const none = {
    isDenied: false,
    keys: RequestKeys.none<BudgetLease>(keyScopeOf(project)),
    wallets: WalletHolds.none(),
  } as const;
  const outcomes = outcomesOf(new LeaseDecisions({ project, statuses, leases, clock, ...none }), requests);
  const { added, reserved } = leases;
  const changed = leases.changed.map((lease) => ({
    lease,
    found: present(found.get(lease.id), 'a lease to change'),
  }));
  if (added.length + changed.length === 0) return outcomes;
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
  const changes = { rules: [...rules.values()], changed, added, wallets: walletsOf(added) };
  return (await writeIfUnchanged(postgres, project, changes)) ? outcomes : undefined;
}

/** Returns the wallets that pay for amounts of these leases, each once. */
function walletsOf(leases: readonly Lease[]): WalletKey[] {
  const found = new Map<string, WalletKey>();
  for (const { tenantId, projectId, accountId, holds } of leases)
    for (const { kind, unit: currency } of holds)
      if (accountId !== null && kind === 'amount')
        found.set(`${accountId} ${currency}`, { tenantId, projectId, accountId, currency });
  return [...found.values()];
}
