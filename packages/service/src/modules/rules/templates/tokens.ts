import type { ChargeItemExtractor, ExtractorTemplateSample } from '@tollgate/contract';

/** Tokens of a call of a language model, less those of the total that other items of the template report. */
export function tokens(
  name: string,
  metric: `llm.${string}_tokens`,
  path: string,
  lessPaths: readonly string[] = [],
): ChargeItemExtractor {
  const less = lessPaths.length === 0 ? {} : { less_paths: [...lessPaths] };
  return { name, metric, path, ...less, type: 'number', unit: 'token' };
}

/** The charge items of a sample: each metric with its number of tokens. */
export function tokenItems(
  ...counts: readonly (readonly [metric: string, quantity: string])[]
): ExtractorTemplateSample['charge_items'] {
  return counts.map(([metric, quantity]) => ({ metric, unit: 'token', quantity }));
}
