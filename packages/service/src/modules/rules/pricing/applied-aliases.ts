import type { AppliedAlias, PricingConfig, PricingRule } from '@tollgate/contract';
import {
  compileExpression,
  EventSteps,
  EventStepsError,
  type ExpressionEnv,
  ExpressionError,
} from '../expression/index.js';
import { envOf, fittingAliases, type RecordedItem } from './recorded-item.js';

/**
 * Returns the aliases of a rule set by which one of its rules matched a charge item: those that fit the dimensions of
 * the event, if the rule does not match the original values.
 */
export function appliedAliases(
  { aliases = [] }: Pick<PricingConfig, 'aliases'>,
  { match_expr: match }: Pick<PricingRule, 'metric' | 'match_expr'>,
  item: RecordedItem,
): AppliedAlias[] {
  if (aliases.length === 0 || match === undefined) return [];
  const env = envOf(item, new EventSteps());
  const applied = fittingAliases(aliases, env.dimensions);
  return applied.length === 0 || matchesAsItIs(match, env) ? [] : applied;
}

function matchesAsItIs(match: string, env: ExpressionEnv): boolean {
  const compiled = compileExpression(match, { kind: 'match' });
  if (!compiled.ok) return false;
  try {
    return compiled.evaluate(env);
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof EventStepsError) return false;
    throw error;
  }
}
