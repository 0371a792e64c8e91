import type { Clock } from '../../kernel/clock.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { RuleCatalog } from './catalog.js';
import { readPublications, readPublishedVersions, readRevisions } from './catalog-store.js';
import { EXTRACTOR_KIND, PRICING_KIND } from './kinds.js';
import { RuleSetPublications } from './publications.js';
import { compileRuleVersion, type RuleVersion } from './rule-version.js';
import { type ExtractorRuleSetService, type PricingRuleSetService, RuleSetService } from './service.js';

export { checkBilling } from './billing-check.js';
export type { RuleCatalog } from './catalog.js';
export type { RuleSetRef } from './catalog-store.js';
export { compileExtractor, RatingFailure } from './extract/index.js';
export {
  type ConvertedTable,
  convertPriceTable,
  type ModelsBy,
  PriceTableError,
} from './price-table/index.js';
export { PUBLISHED_FRESH_MS, type Publication, type RuleSetPublications } from './publications.js';
export { type BilledItem, type RatedEvent, type RatingInput, rateEvent } from './rate.js';
export { registerRuleSetRoutes } from './routes.js';
export type { RuleVersion } from './rule-version.js';

/** Rule sets of one process. */
export interface RuleSets {
  readonly extractors: ExtractorRuleSetService;
  readonly pricings: PricingRuleSetService;
  /** What ingest asks; the writes of this process tell it what they changed. */
  readonly publications: RuleSetPublications;
}

export function createRuleSets({
  postgres,
  clock,
}: {
  readonly postgres: Postgres;
  readonly clock: Clock;
}): RuleSets {
  const publications = new RuleSetPublications(
    (owner, ids) => readPublications(postgres.db, owner, ids),
    clock,
  );
  const deps = { postgres, clock, publications };
  return {
    publications,
    extractors: new RuleSetService(EXTRACTOR_KIND, deps),
    pricings: new RuleSetService(PRICING_KIND, deps),
  };
}

/** What a worker rates by. */
export function createRuleVersions({ db }: Pick<Postgres, 'db'>): RuleCatalog<RuleVersion> {
  const source = {
    readRevisions: readRevisions.bind(undefined, db),
    readPublishedVersions: readPublishedVersions.bind(undefined, db),
  };
  return new RuleCatalog(source, compileRuleVersion);
}
