import type { ExtractorRuleSet, PricingPurpose, PricingRuleSet } from '@tollgate/contract';
import type { RuleSet } from './api.js';
import { publishedVersion } from './status.js';

export type StatusFilter = 'current' | 'published' | 'draft' | 'archived' | 'all';

/** The purpose of the pricing rule sets to show. */
export type PurposeFilter = PricingPurpose | 'all';

/** An extractor rule set with its pricing rule sets. */
export interface RuleSetGroup {
  readonly extractor: ExtractorRuleSet;
  readonly pricings: readonly PricingRuleSet[];
}

export interface ListFilters {
  readonly status: StatusFilter;
  readonly purpose: PurposeFilter;
  readonly search: string;
}

/** The name of a rule set or, without one, its ID. */
export function titleOf({ name, id }: Pick<RuleSet, 'name' | 'id'>): string {
  return name.trim() === '' ? id : name;
}

/**
 * The rule sets that match the filters, grouped by extractor rule set. A group is also shown if only one of its
 * pricing rule sets matches. If the extractor rule set matches the search, all of its pricing rule sets with the
 * status are shown.
 */
export function grouped(
  extractors: readonly ExtractorRuleSet[],
  pricings: readonly PricingRuleSet[],
  { status, purpose, search }: ListFilters,
): RuleSetGroup[] {
  return extractors.flatMap((extractor) => {
    const isNamed = hasText(extractor, search);
    const bound = pricings.filter(
      (pricing) =>
        pricing.extractor_rule_set_id === extractor.id &&
        hasStatus(pricing, status) &&
        (purpose === 'all' || pricing.purpose === purpose) &&
        (isNamed || hasText(pricing, search)),
    );
    const isShown = bound.length > 0 || (isNamed && hasStatus(extractor, status));
    return isShown ? [{ extractor, pricings: bound }] : [];
  });
}

function hasText({ name, id }: RuleSet, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  return name.toLowerCase().includes(wanted) || id === wanted;
}

function hasStatus(ruleSet: RuleSet, filter: StatusFilter): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'current':
      return ruleSet.status !== 'archived';
    case 'published':
      return publishedVersion(ruleSet) !== undefined;
    default:
      return ruleSet.status === filter;
  }
}
