import type { ExtractorTemplate, PricingRuleSetInput } from '@tollgate/contract';

/** A metric of a template that can have a price. */
export interface PricedMetric {
  readonly metric: string;
  readonly unit: string;
  /** Display name of the template. */
  readonly name: string;
}

export function metricsOf({ charge_item_extractors }: ExtractorTemplate): PricedMetric[] {
  const metrics = new Map<string, PricedMetric>();
  for (const { metric, name = metric, unit = 'unit' } of charge_item_extractors) {
    if (!metrics.has(metric)) metrics.set(metric, { metric, unit, name });
  }
  return [...metrics.values()];
}

const PRICE = /^(?:0|[1-9]\d{0,19})(?:\.\d{1,18})?$/;

/** Whether a text is a price: a plain decimal that is not negative. */
export function isPrice(text: string): boolean {
  return PRICE.test(text);
}

/**
 * A pricing rule set with a unit price for each metric that has one; undefined if none has.
 *
 * @param prices by metric; an empty text means no price, all others are valid by `isPrice`
 */
export function startingPrices(
  extractorRuleSetId: string,
  prices: ReadonlyMap<string, string>,
  currency: string,
): PricingRuleSetInput | undefined {
  const rules = [...prices]
    .filter(([, price]) => price !== '')
    .map(([metric, price]) => ({ name: metric, metric, unit_price_expr: `dec("${price}")` }));
  if (rules.length === 0) return undefined;
  return { extractor_rule_set_id: extractorRuleSetId, name: 'Prices', effective_from: 0, currency, rules };
}
