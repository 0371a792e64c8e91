import type {
  PricingRuleSet,
  PricingRuleSetInput,
  PricingRuleSetPage,
  PricingRuleSetVersionPage,
  PublicationStatus,
  SavedPricingRuleSet,
} from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Prices of the charge items that carry no price of their own. */
export class PricingRuleSets {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  create(ruleSet: PricingRuleSetInput, options?: CallOptions): Promise<SavedPricingRuleSet> {
    return this.#transport.post('/pricing-rule-sets', ruleSet, options);
  }

  /** Each by its newest version. */
  list(
    query: PageOptions & {
      readonly status?: PublicationStatus;
      readonly extractor_rule_set_id?: string;
    } = {},
    options?: CallOptions,
  ): Promise<PricingRuleSetPage> {
    return this.#transport.get('/pricing-rule-sets', query, options);
  }

  /** One version; the newest when none is named. */
  get(ruleSetId: string, version?: number, options?: CallOptions): Promise<PricingRuleSet> {
    return this.#transport.get(path`/pricing-rule-sets/${ruleSetId}`, { version }, options);
  }

  /** Every version, newest first, with what it changed. */
  versions(
    ruleSetId: string,
    page: PageOptions = {},
    options?: CallOptions,
  ): Promise<PricingRuleSetVersionPage> {
    return this.#transport.get(path`/pricing-rule-sets/${ruleSetId}/versions`, page, options);
  }

  /** Replaces the draft, or opens the next version as one; what is published stays in force. */
  update(
    ruleSetId: string,
    ruleSet: PricingRuleSetInput,
    options?: CallOptions,
  ): Promise<SavedPricingRuleSet> {
    return this.#transport.put(path`/pricing-rule-sets/${ruleSetId}`, ruleSet, options);
  }

  publish(ruleSetId: string, options?: CallOptions): Promise<SavedPricingRuleSet> {
    return this.#transport.post(path`/pricing-rule-sets/${ruleSetId}/publish`, undefined, options);
  }

  archive(ruleSetId: string, options?: CallOptions): Promise<PricingRuleSet> {
    return this.#transport.post(path`/pricing-rule-sets/${ruleSetId}/archive`, undefined, options);
  }
}
