import type { ExtractorConfig, PricingConfig, PricingRule } from '@tollgate/contract';

export const SAMPLE_METRICS = ['llm.input_tokens', 'llm.cached_input_tokens', 'llm.output_tokens'] as const;

/** USD per token of each metric, as published price lists state it. */
const PRICES = {
  'gpt-5': ['0.00000125', '0.000000125', '0.00001'],
  'gpt-5-mini': ['0.00000025', '0.000000025', '0.000002'],
  'claude-sonnet-4-5': ['0.000003', '0.0000003', '0.000015'],
  'gemini-2.5-flash': ['0.0000003', '0.000000075', '0.0000025'],
} as const;

/** USD per token of models without a price of their own: nothing stays unpriced. */
const OTHER_PRICE = '0.000001';
const OTHER_PRIORITY = 100;

/** The models that the sample traffic calls. */
export const SAMPLE_MODELS = Object.keys(PRICES) as readonly (keyof typeof PRICES)[];

function tokens(name: string, metric: (typeof SAMPLE_METRICS)[number], path: string) {
  return { name, metric, path, type: 'number' as const, unit: 'token' };
}

/** Reads one LLM call: who called, which model, and how many tokens of each kind. */
export const SAMPLE_EXTRACTOR: ExtractorConfig = {
  subject: { default_type: 'customer', id_path: '$.customer', required: true },
  dimensions: [
    { name: 'model', path: '$.model', type: 'string', required: true },
    { name: 'region', path: '$.region', type: 'string' },
  ],
  charge_item_extractors: [
    tokens('Input tokens', 'llm.input_tokens', '$.usage.input_tokens'),
    tokens('Cached input tokens', 'llm.cached_input_tokens', '$.usage.cache_read_input_tokens'),
    tokens('Output tokens', 'llm.output_tokens', '$.usage.output_tokens'),
  ],
};

type Model = (typeof SAMPLE_MODELS)[number];

function rulesOf(model: Model, expressionOf: (price: string) => string): PricingRule[] {
  return SAMPLE_METRICS.map((metric, column) => ({
    name: `${model} ${metric}`,
    metric,
    match_expr: `dimensions.model == "${model}"`,
    unit_price_expr: expressionOf(PRICES[model][column] ?? OTHER_PRICE),
  }));
}

/** Shares of the prices that the sample company pays to the providers of the models. */
const COST_SHARES: Readonly<Record<Model, string>> = {
  'gpt-5': '0.8',
  'gpt-5-mini': '0.55',
  'claude-sonnet-4-5': '0.92',
  // Sold below its cost, so that a margin is negative.
  'gemini-2.5-flash': '1.1',
};

/** Prices that the sample company pays for the tokens of each model. */
export const SAMPLE_COSTS: PricingConfig = {
  currency: 'USD',
  rules: SAMPLE_MODELS.flatMap((model) =>
    rulesOf(model, (price) => `dec_mul(dec("${price}"), dec("${COST_SHARES[model]}"))`),
  ),
};

/** Token prices of each model, and at the end those of any other model. */
export const SAMPLE_PRICES: PricingConfig = {
  currency: 'USD',
  rules: [
    ...SAMPLE_MODELS.flatMap((model) => rulesOf(model, (price) => `dec("${price}")`)),
    ...SAMPLE_METRICS.map((metric) => ({
      name: `other ${metric}`,
      priority: OTHER_PRIORITY,
      metric,
      unit_price_expr: `dec("${OTHER_PRICE}")`,
    })),
  ],
};
