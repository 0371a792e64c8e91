import type { ExtractorConfig, PricingConfig } from '@tollgate/contract';
import { fromStored, toText } from '../../kernel/decimal.js';
import { parseLossless } from '../../kernel/json/json.js';
import { compileExtractor, type RuleOrigin } from './extract/index.js';
import { type CompiledPricing, compilePricing, priceListOf } from './pricing/index.js';
import type { CountingEvent, RatedEvent } from './rate.js';
import { rateAlone } from './rate-alone.js';
import type { RatingInput } from './rating-input.js';

/** Unix seconds. */
export const OCCURRED_AT = 1_790_000_000;

export const ORIGIN: RuleOrigin = { ruleSetId: 'ers_1', version: 3 };

/** Rates an event whose `raw_json` is the given text. */
export function rate(
  config: ExtractorConfig,
  rawJson: string,
  rest: Partial<RatingInput> = {},
  pricings: readonly CompiledPricing[] = [],
  costs: readonly CompiledPricing[] = [],
): RatedEvent {
  const result = compileExtractor(config, ORIGIN);
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  const rules = { extractor: result.extractor, prices: priceListOf(pricings), costs: priceListOf(costs) };
  return rateAlone(rules, { rawJson: parseLossless(rawJson), occurredAt: OCCURRED_AT, ...rest });
}

/** Returns a result that waits for no counters. */
export function complete(result: RatedEvent | CountingEvent): RatedEvent {
  if (result.ok === undefined) throw new Error('the event waits for its counters');
  return result;
}

export function pricingOf(config: PricingConfig, ruleSetId = 'prs_1', version = 1): CompiledPricing {
  const result = compilePricing(config, { ruleSetId, version });
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.pricing;
}

/** Returns code and path of the failure. */
export function failureOf(rated: RatedEvent): readonly [string, string] {
  if (rated.ok) throw new Error('the event was rated');
  return [rated.failure.code, rated.failure.path];
}

/** Returns the charge items with their decimals as text. */
export function itemsOf(rated: RatedEvent): Record<string, unknown>[] {
  if (!rated.ok) throw new Error(rated.failure.message);
  return rated.items.map((item) => ({
    ...item,
    quantity: toText(fromStored(item.quantity)),
    unitPrice: item.unitPrice === null ? null : toText(fromStored(item.unitPrice)),
    amount: toText(fromStored(item.amount)),
    discount: toText(fromStored(item.discount)),
  }));
}

export type Item = NonNullable<ExtractorConfig['charge_item_extractors']>[number];

/** Charge item extractors that read a number `n` as tokens, with the given changes. */
export const items = (...changes: Partial<Item>[]): ExtractorConfig => ({
  charge_item_extractors: changes.map((change) => ({
    metric: 'tokens',
    path: 'n',
    type: 'number',
    ...change,
  })),
});
