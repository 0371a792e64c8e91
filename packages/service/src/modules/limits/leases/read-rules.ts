import type { Clock } from '../../../kernel/clock.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { Amount } from '../../ledger/index.js';
import { type LimitStatus, limitStatusesOf, openRules, type RuleAtLevel } from '../check/limit-status.js';
import type { UsageQuery, UsageRead } from '../check/limit-status-store.js';
import { heldRule, heldRuleKey } from './lease-changes.js';

/** The rules of a group of requests, as of one moment, by `heldRuleKey`. */
export interface ReadRules {
  readonly statuses: ReadonlyMap<string, LimitStatus>;
  /** The versions of their reserved amounts; undefined for rules of which nothing was ever reserved. */
  readonly versions: ReadonlyMap<string, string | undefined>;
}

/** A change of the reserved amount of a rule, by a group; nobody else has changed it between the two versions. */
export interface WrittenRule {
  readonly from: string;
  readonly to: string;
  readonly amount: Amount;
}

/** By `heldRuleKey`. */
export type WrittenRules = ReadonlyMap<string, WrittenRule>;

/**
 * Returns the rules as they are after a group that was not seen when they were read. Rules that were read after it, or
 * that others have changed, stay as they are.
 */
export function withWritten(read: ReadRules, written: WrittenRules): ReadRules {
  const statuses = new Map(read.statuses);
  const versions = new Map(read.versions);
  for (const [key, { from, to, amount }] of written) {
    const status = statuses.get(key);
    if (status === undefined || versions.get(key) !== from) continue;
    statuses.set(key, withReserved(status, amount));
    versions.set(key, to);
  }
  return { statuses, versions };
}

/** Adds to the reserved amount. A limit on concurrent work counts leases: that number is its usage. */
export function withReserved(status: LimitStatus, amount: Amount): LimitStatus {
  return status.rule.measure === 'concurrency'
    ? { ...status, used: status.used + amount }
    : { ...status, reserved: status.reserved + amount };
}

/** @param read reads the use of the rules, with or without a lock on what is reserved of them */
export async function readRules(
  clock: Clock,
  project: ProjectRef,
  rules: readonly RuleAtLevel[],
  read: (query: UsageQuery) => Promise<UsageRead>,
): Promise<ReadRules> {
  const nowMs = clock.nowMs();
  const open = openRules(rules, Math.floor(nowMs / 1_000));
  const asked = open.map((rule) => ({ ...rule, value: undefined }));
  const { counted } = await read({ ...project, rules: asked, wallet: undefined });
  const keys = rules.map((rule) => heldRuleKey(heldRule(rule)));
  const statuses = limitStatusesOf(open, counted, nowMs);
  return {
    statuses: new Map(statuses.map((status, index) => [present(keys[index], 'a rule'), status])),
    versions: new Map(keys.map((key, index) => [key, counted[index]?.reservedVersion])),
  };
}
