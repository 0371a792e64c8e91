import { BoundedMemory } from '../../kernel/bounded-memory.js';
import type { Clock } from '../../kernel/clock.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { BoundPrices } from './bound-prices.js';
import { RuleCatalog } from './catalog.js';
import { readConfigs, readPublications, readPublishedRules, readRevisions } from './catalog-store.js';
import { type CheckConfig, checkConfigHere, EXTRACTOR_KIND, PRICING_KIND } from './kinds.js';
import { RuleSetPublications } from './publications.js';
import { type RuleVersion, ruleVersionOf } from './rule-version.js';
import { type ExtractorRuleSetService, type PricingRuleSetService, RuleSetService } from './service.js';

export { checkBilling } from './billing-check.js';
export {
  type ActivePrices,
  type BoundPrices,
  type ConfigsById,
  NO_PRICES,
  type PricesOverTime,
} from './bound-prices.js';
export type { RuleCatalog, RuleSetRef, RulesOverTime } from './catalog.js';
export { EventSteps } from './expression/index.js';
export {
  type CompiledExtractor,
  type CounterDefinition,
  compileExtractor,
  type Issue,
  RatingFailure,
  type RatingNote,
  type RuleOrigin,
  UNSAVED,
} from './extract/index.js';
export { isRecord } from './extract/path.js';
export { type CheckConfig, EXTRACTOR_KIND, PRICING_KIND } from './kinds.js';
export { defaultSubjectTypes, isDefaultSubjectType } from './known-names-store.js';
export { amountBetween, type CounterTotals, LastPrice } from './price.js';
export { nextStep, totalExprOf } from './price-steps.js';
export {
  type ConvertedModel,
  type ConvertedTable,
  convertPriceTable,
  type ModelsBy,
  PriceTableError,
  uniqueAliases,
} from './price-table/index.js';
export {
  type CompiledPricing,
  compilePricing,
  explainedRule,
  NO_PRICE_LISTS,
  nearestRules,
  type PriceLists,
  type PurposedPricing,
  pricedMetrics,
  priceListOf,
  priceListsOf,
} from './pricing/index.js';
export { PUBLISHED_FRESH_MS, type Publication, type RuleSetPublications } from './publications.js';
export {
  type CountingEvent,
  dimensionTexts,
  type RatedEvent,
  type RatingRules,
  rateEvent,
  withDiscounts,
} from './rate.js';
export { rateAlone } from './rate-alone.js';
export { type ChargeItem, type CountedItem, cumulativeText, totalAfter, totalsOfItem } from './rated-item.js';
export {
  type RatingFacts,
  type RatingInput,
  ratingFactsOf,
  ratingInput,
  ratingInputOf,
} from './rating-input.js';
export { registerRuleSetRoutes } from './routes.js';
export { type RuleVersion, refuseToCompile } from './rule-version.js';
export { extractorWarnings, namesOfExtractor, pricingWarnings } from './rule-warnings.js';
export { PROMPT_SIZE, PROMPT_SIZES } from './templates/prompt-size.js';
export { type TotalPrice, TotalPrices, type TotalRule } from './total-prices.js';

/** Rule sets of one process. */
export interface RuleSets {
  readonly extractors: ExtractorRuleSetService;
  readonly pricings: PricingRuleSetService;
  /** Used by ingest to look up published rule sets. Changes in this process are reported to it. */
  readonly publications: RuleSetPublications;
  readonly boundPrices: BoundPrices;
}

export interface RuleSetsDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  /** Default: on the calling thread. */
  readonly checkConfig?: CheckConfig;
}

export function createRuleSets({ postgres, clock, checkConfig = checkConfigHere }: RuleSetsDeps): RuleSets {
  const publications = new RuleSetPublications(
    (owner, ids) => readPublications(new ProjectDb(postgres.db, owner), ids),
    clock,
  );
  const deps = { postgres, clock, publications, checkConfig };
  return {
    publications,
    extractors: new RuleSetService(EXTRACTOR_KIND, deps),
    pricings: new RuleSetService(PRICING_KIND, deps),
    boundPrices: new BoundPrices(postgres),
  };
}

/**
 * Upper bound of the source of the expressions that a worker keeps compiled; compiled they take about twenty times as
 * much.
 */
const CODE_BYTES_MAX = 8 * 1_048_576;

/** Creates the catalog of rules that a worker rates by. */
export function createRuleVersions({ db }: Pick<Postgres, 'db'>): RuleCatalog<RuleVersion> {
  const codeMemory = new BoundedMemory(CODE_BYTES_MAX);
  return new RuleCatalog<RuleVersion>({
    readRevisions: readRevisions.bind(undefined, db),
    readPublishedRules: readPublishedRules.bind(undefined, db),
    load: async (projectId, active) => {
      const configs = await readConfigs(db, projectId, active);
      const bytes = [configs.extractor, ...configs.pricings].reduce((sum, config) => sum + config.bytes, 0);
      return { compiled: ruleVersionOf(configs, codeMemory), bytes };
    },
  });
}
