import type {
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  ExtractorRuleSetPage,
  ExtractorRuleSetVersionPage,
  PublicationStatus,
} from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { type PageOptions, path } from '../transport.js';

/** How raw JSON becomes charge items. */
export class ExtractorRuleSets {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  create(ruleSet: ExtractorRuleSetInput): Promise<ExtractorRuleSet> {
    return this.#transport.post('/extractor-rule-sets', ruleSet);
  }

  /** Each by its newest version. */
  list(query: PageOptions & { readonly status?: PublicationStatus } = {}): Promise<ExtractorRuleSetPage> {
    return this.#transport.get('/extractor-rule-sets', query);
  }

  /** One version; the newest when none is named. */
  get(ruleSetId: string, version?: number): Promise<ExtractorRuleSet> {
    return this.#transport.get(path`/extractor-rule-sets/${ruleSetId}`, { version });
  }

  /** Every version, newest first, with what it changed. */
  versions(ruleSetId: string, page: PageOptions = {}): Promise<ExtractorRuleSetVersionPage> {
    return this.#transport.get(path`/extractor-rule-sets/${ruleSetId}/versions`, page);
  }

  /** Replaces the draft, or opens the next version as one; what is published stays in force. */
  update(ruleSetId: string, ruleSet: ExtractorRuleSetInput): Promise<ExtractorRuleSet> {
    return this.#transport.put(path`/extractor-rule-sets/${ruleSetId}`, ruleSet);
  }

  publish(ruleSetId: string): Promise<ExtractorRuleSet> {
    return this.#transport.post(path`/extractor-rule-sets/${ruleSetId}/publish`);
  }

  archive(ruleSetId: string): Promise<ExtractorRuleSet> {
    return this.#transport.post(path`/extractor-rule-sets/${ruleSetId}/archive`);
  }
}
