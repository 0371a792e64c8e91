import type { ExtractorRuleSet, PricingRuleSet, PublicationStatus } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { grouped, type ListFilters, titleOf } from './rule-set-list.js';

const common = { tenant_id: 't', project_id: 'p', effective_from: 0, created_at: 0, published_at: null };
const extractor = (name: string, status: PublicationStatus, version = 1): ExtractorRuleSet => ({
  ...{ ...common, id: `ers_${name}`, name, status, version },
  ...{ subject: {}, dimensions: [], on_unpriced: 'accept', charge_item_extractors: [] },
});
const pricing = (name: string, of: string, status: PublicationStatus, version = 1): PricingRuleSet => ({
  ...{ ...common, id: `prs_${name}`, name, status, version },
  ...{ extractor_rule_set_id: `ers_${of}`, purpose: 'price', currency: 'USD', rules: [], aliases: [] },
});

const EXTRACTORS = [
  extractor('calls', 'published', 2),
  extractor('disks', 'draft', 2),
  extractor('old', 'archived'),
];
const PRICINGS = [
  pricing('list prices', 'calls', 'published'),
  pricing('contract', 'calls', 'draft'),
  pricing('former', 'calls', 'archived'),
  pricing('rescue', 'old', 'published'),
];

function listed(filters: Partial<ListFilters>): string[] {
  return grouped(EXTRACTORS, PRICINGS, {
    status: 'all',
    purpose: 'all' as const,
    search: '',
    ...filters,
  }).map((group) => `${group.extractor.name}: ${group.pricings.map(({ name }) => name).join(', ')}`);
}

describe('the list of rule sets', () => {
  it('has under each extractor rule set what prices it', () => {
    expect(listed({})).toEqual(['calls: list prices, contract, former', 'disks: ', 'old: rescue']);
  });

  it('leaves out archived rule sets, unless one of their pricing rule sets is active', () => {
    expect(listed({ status: 'current' })).toEqual(['calls: list prices, contract', 'disks: ', 'old: rescue']);
    expect(listed({ status: 'archived' })).toEqual(['calls: former', 'old: ']);
  });

  it('takes a later draft of what was published for both', () => {
    expect(listed({ status: 'published' })).toEqual(['calls: list prices', 'disks: ', 'old: rescue']);
    expect(listed({ status: 'draft' })).toEqual(['calls: contract', 'disks: ']);
  });

  it('can show prices alone, or costs', () => {
    const costs = { ...pricing('provider', 'calls', 'published'), purpose: 'cost' as const };
    const shown = (purpose: ListFilters['purpose']) =>
      grouped(EXTRACTORS, [...PRICINGS, costs], { status: 'published', purpose, search: '' })
        .flatMap(({ pricings }) => pricings)
        .map(({ name }) => name);
    expect(shown('all')).toEqual(['list prices', 'provider', 'rescue']);
    expect(shown('cost')).toEqual(['provider']);
    expect(shown('price')).toEqual(['list prices', 'rescue']);
  });

  it('is searched by name, in whatever case, and by id', () => {
    expect(listed({ search: ' CALLS' })).toEqual(['calls: list prices, contract, former']);
    expect(listed({ search: 'contr' })).toEqual(['calls: contract']);
    expect(listed({ search: 'prs_rescue' })).toEqual(['old: rescue']);
    expect(listed({ search: 'contr', status: 'archived' })).toEqual([]);
  });

  it('calls by its id what has no name', () => {
    expect(titleOf({ name: ' ', id: 'ers_1' })).toBe('ers_1');
  });
});
