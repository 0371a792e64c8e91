import type { ExtractorRuleSetInput, PricingRuleSetInput } from '@tollgate/sdk';

/** Inputs of the tests of the SDK. */
export const METRIC = 'llm.input_tokens';
export const CUSTOMER = { subject_type: 'customer', subject_id: 'c1' } as const;
export const LIMIT = {
  limit_key: 'spend',
  measure: 'amount',
  selector_type: 'all',
  selector_value: '',
  currency: 'USD',
  period: 'month',
  limit_amount: '100',
  action: 'block',
} as const;

export const EXTRACTOR: ExtractorRuleSetInput = {
  name: 'Tokens',
  subject: { default_type: 'customer', id_path: 'customer', required: true },
  charge_item_extractors: [{ metric: METRIC, path: 'tokens', type: 'number', unit: 'token' }],
};
export const pricingOf = (extractorId: string, price: string): PricingRuleSetInput => ({
  extractor_rule_set_id: extractorId,
  name: 'Prices',
  currency: 'USD',
  rules: [{ name: 'all', metric: METRIC, unit_price_expr: `dec("${price}")` }],
});
