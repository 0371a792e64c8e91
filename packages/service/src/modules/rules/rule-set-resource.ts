import {
  type ExtractorConfig,
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  ExtractorRuleSetListQuery,
  ExtractorRuleSetPage,
  ExtractorRuleSetVersionPage,
  type PricingConfig,
  PricingRuleSet,
  PricingRuleSetInput,
  PricingRuleSetListQuery,
  PricingRuleSetPage,
  PricingRuleSetVersionPage,
  type PublicationStatus,
  SavedPricingRuleSet,
} from '@tollgate/contract';
import type { TSchema } from 'typebox';
import { EXTRACTOR_KIND, PRICING_KIND, type RuleSetKind, type VersionInput } from './kinds.js';
import type { StoredVersion } from './store.js';

/** The API of one kind of rule set. */
export interface RuleSetResource<Input extends VersionInput, Config extends object> {
  readonly kind: RuleSetKind<Input, Config>;
  /** In paths: `/v1/projects/:project_id/<segment>`. */
  readonly segment: string;
  readonly tag: string;
  /** In summaries, with its article. */
  readonly noun: string;
  /** In operation ids: `create<operation>`. */
  readonly operation: string;
  /** The list's field in the response. */
  readonly listField: string;
  readonly schemas: {
    /** Static type: Input. */
    readonly input: TSchema;
    readonly listQuery: TSchema;
    readonly answer: TSchema;
    /** The response to a write, with warnings for kinds that have them. */
    readonly saved: TSchema;
    readonly page: TSchema;
    readonly versionPage: TSchema;
  };
  readonly descriptions: { readonly create: string; readonly publish: string; readonly archive: string };
}

export const EXTRACTOR_RESOURCE: RuleSetResource<ExtractorRuleSetInput, ExtractorConfig> = {
  kind: EXTRACTOR_KIND,
  segment: 'extractor-rule-sets',
  tag: 'Extractor rule sets',
  noun: 'an extractor rule set',
  operation: 'ExtractorRuleSet',
  listField: 'extractor_rule_sets',
  schemas: {
    input: ExtractorRuleSetInput,
    listQuery: ExtractorRuleSetListQuery,
    answer: ExtractorRuleSet,
    saved: ExtractorRuleSet,
    page: ExtractorRuleSetPage,
    versionPage: ExtractorRuleSetVersionPage,
  },
  descriptions: {
    create:
      'Creates version 1 as a draft, and checks it. Events can be sent once it is published. With `template_id`, ' +
      'the template is expanded now; fields in the request replace those of the template.',
    publish: 'Publishes the draft: it can no longer be changed, and applies from the next event on.',
    archive:
      'Archives the rule set permanently: it accepts no more events. Events that were accepted before are still rated.',
  },
};

export const PRICING_RESOURCE: RuleSetResource<PricingRuleSetInput, PricingConfig> = {
  kind: PRICING_KIND,
  segment: 'pricing-rule-sets',
  tag: 'Pricing rule sets',
  noun: 'a pricing rule set',
  operation: 'PricingRuleSet',
  listField: 'pricing_rule_sets',
  schemas: {
    input: PricingRuleSetInput,
    listQuery: PricingRuleSetListQuery,
    answer: PricingRuleSet,
    saved: SavedPricingRuleSet,
    page: PricingRuleSetPage,
    versionPage: PricingRuleSetVersionPage,
  },
  descriptions: {
    create:
      'Creates version 1 as a draft, bound permanently to an extractor rule set, and checks it. It prices the ' +
      'charge items that the extractors leave without a price or, with `purpose: "cost"`, gives each charge item a cost. ' +
      'The response has the rules sorted by priority.',
    publish:
      'Publishes the draft: it can no longer be changed, and prices events from `effective_from` on. The first ' +
      'version also prices earlier events.',
    archive:
      'Archives the rule set: it does not price events that occur from now on. Earlier events keep the price of ' +
      'their time.',
  },
};

/**
 * Returns a version as the API shows it. Fields that were not configured are empty, so that a response can be sent back
 * as an update.
 */
export function answerOf<Config extends object>(
  kind: Pick<RuleSetKind<never, Config>, 'shownConfig'>,
  version: StoredVersion<Config>,
) {
  return {
    id: version.id,
    tenant_id: version.tenant_id,
    project_id: version.project_id,
    ...(version.extractor_rule_set_id === null
      ? {}
      : { extractor_rule_set_id: version.extractor_rule_set_id }),
    ...(version.purpose === null ? {} : { purpose: version.purpose }),
    name: version.name ?? '',
    ...(version.template_id === null ? {} : { template_id: version.template_id }),
    version: version.version,
    status: statusOf(version),
    effective_from: version.effective_from,
    ...kind.shownConfig(version.config),
    created_at: version.created_at,
    published_at: version.published_at,
  };
}

function statusOf({ archived_at, published_at }: StoredVersion<object>): PublicationStatus {
  if (archived_at !== null) return 'archived';
  return published_at === null ? 'draft' : 'published';
}
