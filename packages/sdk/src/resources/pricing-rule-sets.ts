import type {
  PricingRuleSet,
  PricingRuleSetInput,
  PricingRuleSetPage,
  PricingRuleSetVersionPage,
  PublicationStatus,
  SavedPricingRuleSet,
} from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Prices of the charge items that carry no price of their own. */
export class PricingRuleSets {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  create(ruleSet: PricingRuleSetInput): Promise<SavedPricingRuleSet> {
    return this.#transport.post('/pricing-rule-sets', ruleSet);
  }

  /** Each by its newest version. */
  list(
    query: PageOptions & {
      readonly status?: PublicationStatus;
      readonly extractor_rule_set_id?: string;
    } = {},
  ): Promise<PricingRuleSetPage> {
    return this.#transport.get('/pricing-rule-sets', query);
  }

  /** One version; the newest when none is named. */
  get(ruleSetId: string, version?: number): Promise<PricingRuleSet> {
    return this.#transport.get(path`/pricing-rule-sets/${ruleSetId}`, { version });
  }

  /** Every version, newest first, with what it changed. */
  versions(ruleSetId: string, page: PageOptions = {}): Promise<PricingRuleSetVersionPage> {
    return this.#transport.get(path`/pricing-rule-sets/${ruleSetId}/versions`, page);
  }

  /** Replaces the draft, or opens the next version as one; what is published stays in force. */
  update(ruleSetId: string, ruleSet: PricingRuleSetInput): Promise<SavedPricingRuleSet> {
    return this.#transport.put(path`/pricing-rule-sets/${ruleSetId}`, ruleSet);
  }

  publish(ruleSetId: string): Promise<SavedPricingRuleSet> {
    return this.#transport.post(path`/pricing-rule-sets/${ruleSetId}/publish`);
  }

  archive(ruleSetId: string): Promise<PricingRuleSet> {
    return this.#transport.post(path`/pricing-rule-sets/${ruleSetId}/archive`);
  }
}
