/** A metric of the LLM templates, and where a row of a price table says what one unit of it costs. */
export interface PricedMetric {
  readonly metric: string;
  readonly key: string;
  /** The price that stands in where a row does not name one: such tokens are part of those, at the same price. */
  readonly fallback?: string;
}

/** What is imported, in the order of the rules. */
export const PRICED_METRICS: readonly PricedMetric[] = [
  { metric: 'llm.input_tokens', key: 'input_cost_per_token' },
  {
    metric: 'llm.cached_input_tokens',
    key: 'cache_read_input_token_cost',
    fallback: 'input_cost_per_token',
  },
  { metric: 'llm.cache_write_tokens', key: 'cache_creation_input_token_cost' },
  { metric: 'llm.cache_write_1h_tokens', key: 'cache_creation_input_token_cost_above_1hr' },
  { metric: 'llm.output_tokens', key: 'output_cost_per_token' },
  {
    metric: 'llm.reasoning_tokens',
    key: 'output_cost_per_reasoning_token',
    fallback: 'output_cost_per_token',
  },
  { metric: 'llm.input_audio_tokens', key: 'input_cost_per_audio_token' },
  { metric: 'llm.output_audio_tokens', key: 'output_cost_per_audio_token' },
  { metric: 'llm.input_image_tokens', key: 'input_cost_per_image_token' },
  { metric: 'llm.output_image_tokens', key: 'output_cost_per_image_token' },
];

/** Only models that write text cache their input and reason; elsewhere a price that stands in would be a rule for nothing. */
const MODES_WITH_FALLBACK: readonly unknown[] = [undefined, null, 'chat', 'completion', 'responses'];

export function hasFallback(mode: unknown): boolean {
  return MODES_WITH_FALLBACK.includes(mode);
}

/** The price of a whole request whose prompt is larger than so many thousand tokens. */
const ABOVE_PROMPT_SIZE = /^(.+)_above_(\d{1,6})k_tokens$/;

/** Reads `input_cost_per_token_above_200k_tokens` as the price `input_cost_per_token` above 200,000 tokens. */
export function promptSizePrice(key: string): { key: string; thresholdTokens: number } | undefined {
  const [, base, thousands] = ABOVE_PROMPT_SIZE.exec(key) ?? [];
  if (base === undefined) return undefined;
  return { key: base, thresholdTokens: Number(thousands) * 1_000 };
}

const DESCRIPTIONS: ReadonlySet<string> = new Set([
  'comment',
  'deprecation_date',
  'display_name',
  'litellm_provider',
  'metadata',
  'mode',
  'output_vector_size',
  'prompt_cache_min_tokens',
  'rpd',
  'rpm',
  'source',
  'tpm',
]);
const DESCRIPTION_PREFIXES: readonly string[] = ['max_', 'supported_', 'supports_'];

/** Whether a key is known to say something else than a price. What is not known is taken for a price and reported. */
export function isDescription(key: string): boolean {
  return DESCRIPTIONS.has(key) || DESCRIPTION_PREFIXES.some((prefix) => key.startsWith(prefix));
}
