import type { AppliedAlias, DimensionConfig, PricingAlias } from '@tollgate/contract';
import { parseDecimal } from '../../../kernel/decimal.js';
import type { DimensionValue, EventSteps, ExpressionEnv } from '../expression/index.js';
import { fitsPattern } from './aliases.js';

/** The recorded values of a charge item that a rule saw. */
export interface RecordedItem {
  readonly metric: string;
  readonly unit: string | null;
  readonly quantity: string;
  readonly dimensions: Readonly<Record<string, string>>;
  /** Id of the extractor version that read the event. */
  readonly dimensionTypes: readonly Pick<DimensionConfig, 'name' | 'type'>[];
  readonly subject: { readonly type: string; readonly id: string } | undefined;
  /** Unix seconds. */
  readonly occurredAt: number;
}

/** The values of the item that a rule's expressions see. */
export function envOf(item: RecordedItem, steps: EventSteps): ExpressionEnv {
  const { metric, unit, subject, occurredAt } = item;
  const quantity = parseDecimal(item.quantity);
  if (quantity === undefined) throw new Error(`the quantity ${item.quantity} is not a decimal`);
  const dimensions = typedDimensions(item);
  return { metric, unit: unit ?? '', quantity, unitPrice: undefined, dimensions, subject, occurredAt, steps };
}

/** The aliases that change a dimension: for each dimension the first match, as in rating. */
export function fittingAliases(
  aliases: readonly PricingAlias[],
  dimensions: ReadonlyMap<string, DimensionValue>,
): AppliedAlias[] {
  if (aliases.length === 0) return [];
  return Array.from(dimensions, ([dimension, from]): AppliedAlias | undefined => {
    if (typeof from !== 'string') return undefined;
    const alias = aliases.find((each) => each.dimension === dimension && fitsPattern(each.pattern, from));
    return alias === undefined || alias.value === from ? undefined : { ...alias, from };
  }).filter((each) => each !== undefined);
}

/** The dimensions as rules see them after these aliases. */
export function afterAliases(
  dimensions: ReadonlyMap<string, DimensionValue>,
  aliases: readonly PricingAlias[],
): ReadonlyMap<string, DimensionValue> {
  const changed = new Map(dimensions);
  for (const { dimension, value } of aliases) changed.set(dimension, value);
  return changed;
}

function typedDimensions({ dimensions, dimensionTypes }: RecordedItem): Map<string, DimensionValue> {
  const typeByName = new Map(dimensionTypes.map(({ name, type }) => [name, type]));
  return new Map(
    Object.entries(dimensions).map(([name, text]): [string, DimensionValue] => {
      const type = typeByName.get(name);
      if (type === 'boolean') return [name, text === 'true'];
      return [name, type === 'number' ? (parseDecimal(text) ?? text) : text];
    }),
  );
}
