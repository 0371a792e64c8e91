import type { Clock } from '../../kernel/clock.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { readPublications } from './catalog-store.js';
import { RuleSetPublications } from './publications.js';

export { PUBLISHED_FRESH_MS, type Publication, RuleSetPublications } from './publications.js';

/** What ingest asks. One per process: the writes of this process tell it what they changed. */
export function createRuleSetPublications(postgres: Pick<Postgres, 'db'>, clock: Clock): RuleSetPublications {
  return new RuleSetPublications((owner, ids) => readPublications(postgres.db, owner, ids), clock);
}
