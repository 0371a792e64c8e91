import type {
  PricingPurpose,
  PricingRuleSet,
  PricingRuleSetInput,
  PricingRuleSetPage,
  PricingRuleSetVersionPage,
  PublicationStatus,
  SavedPricingRuleSet,
} from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Prices of the charge items that have no price of their own, and costs of charge items. */
export class PricingRuleSets {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  create(ruleSet: PricingRuleSetInput, options?: CallOptions): Promise<SavedPricingRuleSet> {
    return this.#transport.post('/pricing-rule-sets', ruleSet, options);
  }

  /** Returns the newest version of each rule set. */
  list(
    query: PageOptions & {
      readonly status?: PublicationStatus;
      readonly extractor_rule_set_id?: string;
      readonly purpose?: PricingPurpose;
    } = {},
    options?: CallOptions,
  ): Promise<PricingRuleSetPage> {
    return this.#transport.get('/pricing-rule-sets', query, options);
  }

  /** Returns one version, by default the newest. */
  get(ruleSetId: string, version?: number, options?: CallOptions): Promise<PricingRuleSet> {
    return this.#transport.get(path`/pricing-rule-sets/${ruleSetId}`, { version }, options);
  }

  /** Returns every version, newest first, with what it changed. */
  versions(
    ruleSetId: string,
    page: PageOptions = {},
    options?: CallOptions,
  ): Promise<PricingRuleSetVersionPage> {
    return this.#transport.get(path`/pricing-rule-sets/${ruleSetId}/versions`, page, options);
  }

  /** Replaces the draft, or opens the next version as a draft; the published version stays active. */
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
