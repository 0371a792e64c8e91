import type { ExtractorConfig } from '@tollgate/contract';

/** USD per token, as published price lists state it: input, cached input, output. */
const PRICES = {
  'gpt-5': ['0.00000125', '0.000000125', '0.00001'],
  'gpt-5-mini': ['0.00000025', '0.000000025', '0.000002'],
  'claude-sonnet-4-5': ['0.000003', '0.0000003', '0.000015'],
  'gemini-2.5-flash': ['0.0000003', '0.000000075', '0.0000025'],
} as const;

/** The models that the sample traffic calls. */
export const SAMPLE_MODELS = Object.keys(PRICES) as readonly (keyof typeof PRICES)[];

/** A CEL chain that yields the price of column `column` for the event's model. */
function priceByModel(column: 0 | 1 | 2): string {
  const branches = SAMPLE_MODELS.map(
    (model) => `dimensions.model == "${model}" ? dec("${PRICES[model][column]}")`,
  );
  return `${branches.join(' : ')} : dec("0.000001")`;
}

function tokens(name: string, metric: string, path: string, column: 0 | 1 | 2) {
  return {
    name,
    metric,
    path,
    type: 'number' as const,
    unit: 'token',
    currency: 'USD',
    unit_price_expr: priceByModel(column),
    amount_expr: 'dec_mul(item.quantity, item.unit_price)',
  };
}

/** Reads one LLM call: who called, which model, how many tokens of each kind, and what they cost. */
export const SAMPLE_RULES: ExtractorConfig = {
  subject: { default_type: 'customer', id_path: '$.customer', required: true },
  dimensions: [
    { name: 'model', path: '$.model', type: 'string', required: true },
    { name: 'region', path: '$.region', type: 'string' },
  ],
  charge_item_extractors: [
    tokens('Input tokens', 'llm.input_tokens', '$.usage.input_tokens', 0),
    tokens('Cached input tokens', 'llm.cached_input_tokens', '$.usage.cache_read_input_tokens', 1),
    tokens('Output tokens', 'llm.output_tokens', '$.usage.output_tokens', 2),
  ],
};
