import type { ServiceTier } from './price-keys.js';

/** Names of the tiers in Gemini on Vertex AI, which reports no batches. */
const TRAFFIC_TYPES: Readonly<Partial<Record<ServiceTier, string>>> = {
  priority: 'ON_DEMAND_PRIORITY',
  flex: 'ON_DEMAND_FLEX',
};
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns a CEL string literal. Model names contain no control characters or lone surrogates; such names are refused
 * before.
 */
function celString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function celDimension(name: string): string {
  return IDENTIFIER.test(name) ? `dimensions.${name}` : `dimensions[${celString(name)}]`;
}

/** Returns a condition that is true for events of exactly this model. */
export function modelIs(model: string): string {
  return `dimensions.model == ${celString(model)}`;
}

/**
 * Returns a condition that is true when the number dimension of this name is larger; an event without it does not
 * match.
 */
export function dimensionAbove(name: string, threshold: number): string {
  return `${celDimension(name)} > ${threshold}`;
}

/**
 * Returns a condition that is true for events whose request was served in this tier. Templates read it into
 * `service_tier`, that of Gemini into `traffic_type`; an event with neither does not match. The latter is only read for
 * models that Google may serve, because rules that compare only certain dimensions with texts are found by an index,
 * while others are tried one by one.
 */
export function serviceTierIs(tier: ServiceTier, provider: unknown): string {
  const byName = `dimensions.service_tier == ${celString(tier)}`;
  const trafficType = TRAFFIC_TYPES[tier];
  return trafficType === undefined || !mayBeGoogle(provider)
    ? byName
    : `(${byName} || dimensions.traffic_type == ${celString(trafficType)})`;
}

function mayBeGoogle(provider: unknown): boolean {
  return typeof provider !== 'string' || /^(gemini|vertex_ai)/.test(provider);
}
