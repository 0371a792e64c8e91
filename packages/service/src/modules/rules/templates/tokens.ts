import type { ChargeItemExtractor, ExtractorTemplateSample } from '@tollgate/contract';

type Adjustments = Pick<ChargeItemExtractor, 'sum_paths' | 'less_paths' | 'on_negative' | 'stated_total'>;

/**
 * Returns an extractor of a language model's tokens: the sum of the path and `sum_paths`, less the tokens that other
 * items of the template report. Counts of providers do not always add up: by default a negative rest becomes 0.
 */
export function tokens(
  name: string,
  metric: `llm.${string}_tokens`,
  path: string,
  adjustments: Adjustments = {},
): ChargeItemExtractor {
  const onNegative = adjustments.less_paths === undefined ? {} : { on_negative: 'clamp' as const };
  return { name, metric, path, ...onNegative, ...adjustments, type: 'number', unit: 'token' };
}

/** The charge items of a sample: each metric with its number of tokens. */
export function tokenItems(
  ...counts: readonly (readonly [metric: string, quantity: string])[]
): ExtractorTemplateSample['charge_items'] {
  return counts.map(([metric, quantity]) => ({ metric, unit: 'token', quantity }));
}
