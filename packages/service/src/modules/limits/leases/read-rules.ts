import type { Clock } from '../../../kernel/clock.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { type LimitStatus, limitStatusesOf, openRules, type RuleAtLevel } from '../check/limit-status.js';
import type { UsageQuery, UsageRead } from '../check/limit-status-store.js';
import { heldRule, heldRuleKey } from './lease-changes.js';

/** The rules of a group of requests, as of one moment, by `heldRuleKey`. */
export interface ReadRules {
  readonly statuses: ReadonlyMap<string, LimitStatus>;
  /** The versions of their reserved amounts; undefined for rules of which nothing was ever reserved. */
  readonly versions: ReadonlyMap<string, string | undefined>;
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
