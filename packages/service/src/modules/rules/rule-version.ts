import type { PublishedVersion } from './catalog-store.js';
import { compileExtractor } from './extract/index.js';
import { type RatedEvent, type RatingInput, rateEvent } from './rate.js';

/** A published version of an extractor rule set, ready to rate. */
export interface RuleVersion {
  readonly version: number;
  rate(input: RatingInput): RatedEvent;
}

/** @throws Error when the config, which compiled when it was saved, no longer does. */
export function compileRuleVersion({ ruleSetId, version, config }: PublishedVersion): RuleVersion {
  const compiled = compileExtractor(config, { ruleSetId, version });
  if (!compiled.ok) {
    const issues = compiled.issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new Error(`version ${version} of ${ruleSetId} no longer compiles: ${issues}`);
  }
  const { extractor } = compiled;
  return { version, rate: (input) => rateEvent(extractor, input) };
}
