import type { Clock } from '../../kernel/clock.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { RuleCatalog } from './catalog.js';
import { readPublications, readPublishedVersions, readRevisions } from './catalog-store.js';
import { RuleSetPublications } from './publications.js';
import { compileRuleVersion, type RuleVersion } from './rule-version.js';
import { RuleSetService } from './service.js';

export { checkBilling } from './billing-check.js';
export type { RuleCatalog } from './catalog.js';
export type { RuleSetRef } from './catalog-store.js';
export { compileExtractor, RatingFailure } from './extract/index.js';
export { PUBLISHED_FRESH_MS, type Publication, type RuleSetPublications } from './publications.js';
export { type BilledItem, type RatedEvent, type RatingInput, rateEvent } from './rate.js';
export { registerRuleSetRoutes } from './routes.js';
export type { RuleVersion } from './rule-version.js';

/** Extractor rule sets of one process. */
export interface ExtractorRuleSets {
  readonly service: RuleSetService;
  /** What ingest asks; the writes of this process tell it what they changed. */
  readonly publications: RuleSetPublications;
}

export function createExtractorRuleSets({
  postgres,
  clock,
}: {
  readonly postgres: Postgres;
  readonly clock: Clock;
}): ExtractorRuleSets {
  const publications = new RuleSetPublications(
    (owner, ids) => readPublications(postgres.db, owner, ids),
    clock,
  );
  return { publications, service: new RuleSetService({ postgres, clock, publications }) };
}

/** What a worker rates by. */
export function createRuleVersions({ db }: Pick<Postgres, 'db'>): RuleCatalog<RuleVersion> {
  const source = {
    readRevisions: readRevisions.bind(undefined, db),
    readPublishedVersions: readPublishedVersions.bind(undefined, db),
  };
  return new RuleCatalog(source, compileRuleVersion);
}
