import type { AppliedAlias, PricingConfig, PricingRule } from '@tollgate/contract';
import {
  compileExpression,
  EventSteps,
  EventStepsError,
  type ExpressionEnv,
  ExpressionError,
} from '../expression/index.js';
import { afterAliases, envOf, fittingAliases, type RecordedItem } from './recorded-item.js';

/**
 * Returns the aliases of a rule set by which one of its rules matched a charge item: those that fit the dimensions of
 * the event, if the rule does not match the original values. A dimension on which the rule without aliases has a
 * condition keeps its value. That rule is not recorded, so where the rule does not match after all aliases, one of them
 * is left out.
 */
export function appliedAliases(
  { aliases = [] }: Pick<PricingConfig, 'aliases'>,
  { match_expr: match }: Pick<PricingRule, 'metric' | 'match_expr'>,
  item: RecordedItem,
): AppliedAlias[] {
  if (aliases.length === 0 || match === undefined) return [];
  const env = envOf(item, new EventSteps());
  const applied = fittingAliases(aliases, env.dimensions);
  if (applied.length === 0 || matches(match, env, [])) return [];
  const choices = [applied, ...applied.map((left) => applied.filter((each) => each !== left))];
  return choices.find((choice) => matches(match, env, choice)) ?? applied;
}

function matches(match: string, env: ExpressionEnv, aliases: readonly AppliedAlias[]): boolean {
  const compiled = compileExpression(match, { kind: 'match' });
  if (!compiled.ok) return false;
  try {
    return compiled.evaluate({ ...env, dimensions: afterAliases(env.dimensions, aliases) });
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof EventStepsError) return false;
    throw error;
  }
}
