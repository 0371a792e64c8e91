import type { ExtractorConfig, UnpricedItem } from '@tollgate/contract';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { type PriceLists, rateAlone, ratingInputOf } from '../rules/index.js';
import { type StoredInput, toUsageEvent } from '../usage/index.js';
import { fieldsOf } from './replay.js';
import { compiledExtractor, type RuleSetsForTrial } from './trial-rules.js';
import { itemsWithoutPrices, unpricedItems } from './unpriced-items.js';

/** Upper bound of compiled source of one extractor; more than a rule set can have. */
const CODE_BYTES_MAX = 1_048_576;

/**
 * Returns a function that explains why charge items of a stored event have no price, by the rules that were active at
 * its time, as they are now. A failed event has no charge items: it is rated again, and nothing is stored.
 */
export function unpricedFinder({ boundPrices }: Pick<RuleSetsForTrial, 'boundPrices'>) {
  return async (
    project: Pick<ProjectRef, 'projectId'>,
    stored: StoredInput,
    extractor: ExtractorConfig,
  ): Promise<UnpricedItem[]> => {
    const event = toUsageEvent(stored);
    const prices = await boundPrices
      .of(project.projectId, event.extractor_rule_set_id)
      .then((ofRuleSet) => ofRuleSet.at(event.occurred_at));
    const items = event.failure === null ? event.charge_items : ratedAgain(stored, extractor, prices.lists);
    const dimensionTypes = extractor.dimensions ?? [];
    return unpricedItems(items, { event, dimensionTypes, configs: prices.configs });
  };
}

function ratedAgain(stored: StoredInput, config: ExtractorConfig, lists: PriceLists) {
  const { extractor_rule_set_id: ruleSetId, extractor_version: version } = stored;
  const origin = { ruleSetId, version };
  const extractor = compiledExtractor({ origin, config }, new BoundedMemory(CODE_BYTES_MAX));
  const rules = { extractor, ...lists };
  const input = ratingInputOf(fieldsOf(stored));
  return itemsWithoutPrices(rules, input, rateAlone(rules, input));
}
