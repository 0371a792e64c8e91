import type { ServiceTier } from './price-keys.js';

/** Names of the tiers in Gemini on Vertex AI, which reports no batches. */
const TRAFFIC_TYPES: Readonly<Partial<Record<ServiceTier, string>>> = {
  priority: 'ON_DEMAND_PRIORITY',
  flex: 'ON_DEMAND_FLEX',
};
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A CEL string literal. Control characters and lone surrogates have no place in a model name and are refused
 * before.
 */
function celString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function celDimension(name: string): string {
  return IDENTIFIER.test(name) ? `dimensions.${name}` : `dimensions[${celString(name)}]`;
}

/** True for events of exactly this model. */
export function modelIs(model: string): string {
  return `dimensions.model == ${celString(model)}`;
}

/** True when the number dimension of this name is larger; an event without it does not match. */
export function dimensionAbove(name: string, threshold: number): string {
  return `${celDimension(name)} > ${threshold}`;
}

/**
 * True for events whose request was served in this tier. Templates read it into `service_tier`, that of
 * Gemini into `traffic_type`; an event with neither does not match. Only models that Google may serve are
 * asked for the latter: rules that ask for texts of certain dimensions alone are looked up, others are tried
 * one by one.
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
