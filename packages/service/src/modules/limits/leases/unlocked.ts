import type { BudgetLease } from '@tollgate/contract';
import type { Clock } from '../../../kernel/clock.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { RequestKeys, WalletHolds, type WalletKey, walletKeyText } from '../../ledger/index.js';
import type { RuleAtLevel } from '../check/limit-status.js';
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
import { type ReadRules, readRules } from './read-rules.js';
import type { FoundLease } from './store.js';
import { type RuleChange, writeIfUnchanged } from './unlocked-store.js';

export interface UnlockedDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/** Reads the rules of a group without a lock. */
export function readUnlocked(
  { postgres, clock }: UnlockedDeps,
  project: ProjectRef,
  rules: readonly RuleAtLevel[],
): Promise<ReadRules> {
  return readRules(clock, project, rules, async (query) =>
    present((await readUsage(postgres, [query]))[0], 'the use of the rules'),
  );
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
  { statuses, versions }: ReadRules,
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
  const wallets = leases.flatMap(({ tenantId, projectId, accountId, holds }) =>
    holds.flatMap(({ kind, unit: currency }) =>
      accountId === null || kind === 'quantity' ? [] : { tenantId, projectId, accountId, currency },
    ),
  );
  return [...new Map(wallets.map((wallet) => [walletKeyText(wallet), wallet])).values()];
}
