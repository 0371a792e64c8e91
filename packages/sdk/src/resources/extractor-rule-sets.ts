import type {
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  ExtractorRuleSetPage,
  ExtractorRuleSetVersionPage,
  PublicationStatus,
} from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Rules that turn raw JSON into charge items. */
export class ExtractorRuleSets {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  create(ruleSet: ExtractorRuleSetInput, options?: CallOptions): Promise<ExtractorRuleSet> {
    return this.#transport.post('/extractor-rule-sets', ruleSet, options);
  }

  /** Returns the newest version of each rule set. */
  list(
    query: PageOptions & { readonly status?: PublicationStatus } = {},
    options?: CallOptions,
  ): Promise<ExtractorRuleSetPage> {
    return this.#transport.get('/extractor-rule-sets', query, options);
  }

  /** Returns one version, by default the newest. */
  get(ruleSetId: string, version?: number, options?: CallOptions): Promise<ExtractorRuleSet> {
    return this.#transport.get(path`/extractor-rule-sets/${ruleSetId}`, { version }, options);
  }

  /** Returns every version, newest first, with what it changed. */
  versions(
    ruleSetId: string,
    page: PageOptions = {},
    options?: CallOptions,
  ): Promise<ExtractorRuleSetVersionPage> {
    return this.#transport.get(path`/extractor-rule-sets/${ruleSetId}/versions`, page, options);
  }

  /** Replaces the draft, or opens the next version as a draft; the published version stays active. */
  update(
    ruleSetId: string,
    ruleSet: ExtractorRuleSetInput,
    options?: CallOptions,
  ): Promise<ExtractorRuleSet> {
    return this.#transport.put(path`/extractor-rule-sets/${ruleSetId}`, ruleSet, options);
  }

  publish(ruleSetId: string, options?: CallOptions): Promise<ExtractorRuleSet> {
    return this.#transport.post(path`/extractor-rule-sets/${ruleSetId}/publish`, undefined, options);
  }

  archive(ruleSetId: string, options?: CallOptions): Promise<ExtractorRuleSet> {
    return this.#transport.post(path`/extractor-rule-sets/${ruleSetId}/archive`, undefined, options);
  }
}
