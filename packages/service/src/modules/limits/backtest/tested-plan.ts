import { DomainError } from '../../../kernel/errors.js';
import type { ProjectScope } from '../../../kernel/scope.js';
import { type Postgres, ProjectDb } from '../../../platform/postgres/index.js';
import { compileRule } from '../rules/compile.js';
import { LimitRuleIndex } from '../rules/index.js';
import { planIdOf } from '../rules/plans/plan-id.js';
import { findPlan, findVersion } from '../rules/plans/store.js';
import type { RuleRow } from '../rules/rule-row.js';

/** The rules of a plan that a backtest counts by, as data. */
export interface TestedPlan {
  readonly planId: string;
  /** 0 for the draft. */
  readonly revision: number;
  readonly rules: readonly RuleRow[];
}

/**
 * Returns the draft of a plan or, without one, its newest published revision.
 *
 * @param id of the plan or of any of its versions
 * @throws DomainError `not_found`
 */
export async function readTestedPlan(
  { db: anyDb }: Pick<Postgres, 'db'>,
  owner: ProjectScope,
  id: string,
): Promise<TestedPlan> {
  const db = new ProjectDb(anyDb, owner);
  const plan = await findPlan(db, await planIdOf(db, id));
  const version =
    plan && ((await findVersion(db, plan.id, 0)) ?? (await findVersion(db, plan.id, plan.current_revision)));
  if (version === undefined) throw new DomainError('not_found');
  return { planId: version.plan_id, revision: version.revision, rules: version.rules };
}

/**
 * Compiles the rules as if they had always applied with their present amounts. Limits on concurrent work are left out:
 * leases are not part of the history of usage.
 */
export function testedRules({ planId, rules }: TestedPlan): LimitRuleIndex {
  const ofUsage = rules.filter(({ measure }) => measure !== 'concurrency');
  return new LimitRuleIndex(
    ofUsage.map((row) => compileRule(row, [{ atMs: 0, amount: row.limit_amount, opensNow: false }], planId)),
  );
}
