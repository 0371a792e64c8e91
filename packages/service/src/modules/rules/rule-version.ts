import { type CompiledExtractor, compileExtractor, type Issue } from './extract/index.js';
import { type CompiledPricing, compilePricing, priceBookOf } from './pricing/index.js';
import { type RatedEvent, rateEvent } from './rate.js';
import type { RatingInput } from './rating-input.js';
import type { PublishedExtractor, PublishedPricing, PublishedVersion, RulesInForce } from './timeline.js';

/** A published version of an extractor rule set with the prices of one time, ready to rate. */
export interface RuleVersion {
  /** Of the extractor rule set. */
  readonly version: number;
  rate(input: RatingInput): RatedEvent;
}

/** Compiles the rules of one extractor rule set and of the pricing rule sets bound to it: each version once. */
export class RuleCompiler {
  readonly #extractors = new Map<string, CompiledExtractor>();
  readonly #pricings = new Map<string, CompiledPricing>();

  /** @throws Error when a config, which compiled when it was saved, no longer does */
  compile({ extractor, pricings }: RulesInForce): RuleVersion {
    const rules = {
      extractor: this.#extractor(extractor),
      prices: priceBookOf(pricings.map((pricing) => this.#pricing(pricing))),
    };
    return { version: extractor.version, rate: (input) => rateEvent(rules, input) };
  }

  #extractor(published: PublishedExtractor): CompiledExtractor {
    return memoized(this.#extractors, published, () => {
      const result = compileExtractor(published.config, published);
      return result.ok ? result.extractor : refuse(published, result.issues);
    });
  }

  #pricing(published: PublishedPricing): CompiledPricing {
    return memoized(this.#pricings, published, () => {
      const result = compilePricing(published.config, published);
      return result.ok ? result.pricing : refuse(published, result.issues);
    });
  }
}

function memoized<Compiled>(
  known: Map<string, Compiled>,
  { ruleSetId, version }: PublishedVersion<unknown>,
  compile: () => Compiled,
): Compiled {
  const key = `${ruleSetId} ${version}`;
  let compiled = known.get(key);
  if (compiled === undefined) {
    compiled = compile();
    known.set(key, compiled);
  }
  return compiled;
}

function refuse({ ruleSetId, version }: PublishedVersion<unknown>, issues: readonly Issue[]): never {
  const texts = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new Error(`version ${version} of ${ruleSetId} no longer compiles: ${texts}`);
}
