/** A metric of the LLM templates, and the key of the price of one unit in a row of a price table. */
export interface PricedMetric {
  readonly metric: string;
  readonly key: string;
  /** The key to use if a row has no price for the metric: its tokens are a part of those, at the same price. */
  readonly fallback?: string;
}

/** The imported metrics, in the order of the rules. */
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

/** Only models that write text cache their input and reason; for others a fallback price would be a useless rule. */
const MODES_WITH_FALLBACK: readonly unknown[] = [undefined, null, 'chat', 'completion', 'responses'];

export function hasFallback(mode: unknown): boolean {
  return MODES_WITH_FALLBACK.includes(mode);
}

/** Service tiers of providers, which have their own prices. */
export type ServiceTier = 'batch' | 'priority' | 'flex';

const TIER_BY_SUFFIX: Readonly<Record<string, ServiceTier>> = {
  batches: 'batch',
  priority: 'priority',
  flex: 'flex',
};

/** A price that applies to some requests only. */
export interface PriceVariant {
  /** The key of the price for all other requests. */
  readonly key: string;
  /** Number of tokens that the whole prompt must exceed; undefined for a prompt of any size. */
  readonly above: number | undefined;
  /** Undefined for any tier that has no price of its own. */
  readonly tier: ServiceTier | undefined;
}

const VARIANT = /^(.+?)(?:_above_(\d{1,6})k_tokens)?(?:_(batches|priority|flex))?$/;

/**
 * Reads `input_cost_per_token_above_200k_tokens_priority` as the price `input_cost_per_token` above 200,000 tokens in
 * the tier `priority`. Returns undefined for a key with neither.
 */
export function priceVariant(key: string): PriceVariant | undefined {
  const [, base, thousands, suffix] = VARIANT.exec(key) ?? [];
  if (base === undefined || base === key) return undefined;
  return {
    key: base,
    above: thousands === undefined ? undefined : Number(thousands) * 1_000,
    tier: suffix === undefined ? undefined : TIER_BY_SUFFIX[suffix],
  };
}

/**
 * Orders variants as they are tried: a batch has the price of batches; a large prompt costs more in every other tier,
 * by the price of its tier if there is one. Gateways that share the table charge in the same way.
 */
export function compareVariants(a: PriceVariant, b: PriceVariant): number {
  return (
    Number(b.tier === 'batch') - Number(a.tier === 'batch') ||
    (b.above ?? 0) - (a.above ?? 0) ||
    Number(b.tier !== undefined) - Number(a.tier !== undefined)
  );
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

/** Whether a key is known not to be a price. Unknown keys are treated as prices and reported. */
export function isDescription(key: string): boolean {
  return DESCRIPTIONS.has(key) || DESCRIPTION_PREFIXES.some((prefix) => key.startsWith(prefix));
}
