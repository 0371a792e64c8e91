import type { ExtractorConfig, PricingConfig, PricingPurpose } from '@tollgate/contract';
import type { BoundedMemory } from '../../kernel/bounded-memory.js';
import { ALL, type JsonSelection } from '../../kernel/json/json.js';
import { compileExtractor, type Issue, type RuleOrigin } from './extract/index.js';
import { compilePricing, type PurposedPricing, priceListsOf } from './pricing/index.js';
import { type CountingEvent, type RatedEvent, type RatingRules, rateEvent } from './rate.js';
import type { RatingInput } from './rating-input.js';

/** The config of a version of a rule set. */
export interface VersionConfig<Config> extends RuleOrigin {
  readonly config: Config;
  /** Length of the config as JSON. */
  readonly bytes: number;
}

/** The config of a version of a pricing rule set. */
export interface PricingVersion extends VersionConfig<PricingConfig> {
  readonly purpose: PricingPurpose;
}

/** The configs that rate events of one time, as they were saved. */
export interface RuleConfigs {
  readonly extractor: VersionConfig<ExtractorConfig>;
  readonly pricings: readonly PricingVersion[];
}

/** A published version of an extractor rule set with the prices of one time, ready to rate. */
export interface RuleVersion {
  /** Version of the extractor rule set. */
  readonly version: number;
  /** The compiled rules, unless a config no longer compiles. */
  readonly rules?: RatingRules;
  /** All of an event's `raw_json` that `rate` reads. */
  readonly reads: JsonSelection;
  /** @throws Error when a config, which compiled when it was saved, no longer does */
  rate(input: RatingInput): RatedEvent | CountingEvent;
}

/**
 * A config that does not compile fails the events that it should rate, and no others.
 *
 * @param codeMemory for the expressions; each is compiled when it is first needed
 */
export function ruleVersionOf({ extractor, pricings }: RuleConfigs, codeMemory: BoundedMemory): RuleVersion {
  const { version } = extractor;
  const compiled = compileExtractor(extractor.config, extractor, codeMemory);
  if (!compiled.ok) return broken(extractor, version, compiled.issues);
  const compiledPricings: PurposedPricing[] = [];
  for (const pricing of pricings) {
    const result = compilePricing(pricing.config, pricing, codeMemory);
    if (!result.ok) return broken(pricing, version, result.issues);
    compiledPricings.push({ purpose: pricing.purpose, pricing: result.pricing });
  }
  const rules = { extractor: compiled.extractor, ...priceListsOf(compiledPricings) };
  return { version, rules, reads: compiled.extractor.reads, rate: (input) => rateEvent(rules, input) };
}

function broken(origin: RuleOrigin, version: number, issues: readonly Issue[]): RuleVersion {
  return { version, reads: ALL, rate: () => refuseToCompile(origin, issues) };
}

/** @throws Error, always: every saved config compiled when it was saved */
export function refuseToCompile({ ruleSetId, version }: RuleOrigin, issues: readonly Issue[]): never {
  const texts = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new Error(`version ${version} of ${ruleSetId} no longer compiles: ${texts}`);
}
