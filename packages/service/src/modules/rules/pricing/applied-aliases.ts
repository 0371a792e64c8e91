import type { DimensionConfig, PricingConfig, PricingRule, UsageItemExplanation } from '@tollgate/contract';
import { decimalFromBigInt, parseDecimal } from '../../../kernel/decimal.js';
import {
  compileExpression,
  type DimensionValue,
  EventSteps,
  EventStepsError,
  ExpressionError,
} from '../expression/index.js';
import { fitsPattern } from './aliases.js';

type AppliedAlias = UsageItemExplanation['priced_by']['aliases'][number];

/** What a rule saw of a charge item, as it is recorded. */
export interface SeenItem {
  readonly metric: string;
  readonly unit: string | null;
  readonly quantity: string;
  readonly dimensions: Readonly<Record<string, string>>;
  /** Of the extractor version that read the event. */
  readonly dimensionTypes: readonly Pick<DimensionConfig, 'name' | 'type'>[];
  readonly subject: { readonly type: string; readonly id: string } | undefined;
  /** Unix seconds. */
  readonly occurredAt: number;
}

/**
 * The aliases of a rule set by which one of its rules was found for a charge item: those that fit the dimensions of the event, where
 * the rule does not match them as they are.
 */
export function appliedAliases(
  { aliases = [] }: PricingConfig,
  { match_expr: match }: PricingRule,
  item: SeenItem,
): AppliedAlias[] {
  if (aliases.length === 0 || match === undefined) return [];
  const dimensions = typedDimensions(item);
  const applied = Array.from(dimensions, ([dimension, from]): AppliedAlias | undefined => {
    if (typeof from !== 'string') return undefined;
    const alias = aliases.find((each) => each.dimension === dimension && fitsPattern(each.pattern, from));
    return alias === undefined || alias.value === from ? undefined : { ...alias, from };
  }).filter((each) => each !== undefined);
  return applied.length === 0 || matchesAsItIs(match, item, dimensions) ? [] : applied;
}

function typedDimensions({ dimensions, dimensionTypes }: SeenItem): Map<string, DimensionValue> {
  const typeByName = new Map(dimensionTypes.map(({ name, type }) => [name, type]));
  return new Map(
    Object.entries(dimensions).map(([name, text]): [string, DimensionValue] => {
      const type = typeByName.get(name);
      if (type === 'boolean') return [name, text === 'true'];
      return [name, type === 'number' ? (parseDecimal(text) ?? text) : text];
    }),
  );
}

function matchesAsItIs(match: string, item: SeenItem, dimensions: Map<string, DimensionValue>): boolean {
  const compiled = compileExpression(match, { kind: 'match' });
  if (!compiled.ok) return false;
  const { metric, unit, quantity, subject, occurredAt } = item;
  try {
    return compiled.evaluate({
      ...{ metric, unit: unit ?? '', subject, occurredAt, dimensions, unitPrice: undefined },
      quantity: parseDecimal(quantity) ?? decimalFromBigInt(0n),
      steps: new EventSteps(),
    });
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof EventStepsError) return false;
    throw error;
  }
}
