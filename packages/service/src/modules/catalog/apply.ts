import { isDeepStrictEqual } from 'node:util';
import type { AppliedCatalog, CatalogFile, CatalogOffer, CatalogPlan, ErrorDetail } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { refuseInvalid } from '../../kernel/errors.js';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import { BASELINE_PLANS } from './grant.js';
import { insertPlan, lockCatalog, newestPlan } from './plan-store.js';

export interface ApplyDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/**
 * Adds a revision of every plan that is new or differs from its newest one: all of them, or none. Plans that the file
 * does not name stay as they are. Applying a file twice changes nothing.
 *
 * @param file valid by its schema
 * @throws DomainError `invalid_request`
 */
export async function applyCatalog(
  { postgres, clock }: ApplyDeps,
  { plans }: CatalogFile,
): Promise<AppliedCatalog> {
  checkOffers(plans);
  return transaction(postgres, async (tx) => {
    await lockCatalog(tx);
    const applied: AppliedCatalog = { changed: [], unchanged: [] };
    for (const offer of plans) {
      const newest = await newestPlan(tx, offer.id);
      if (newest !== undefined && isDeepStrictEqual(offerOf(newest), { ...offer })) {
        applied.unchanged.push(offer.id);
        continue;
      }
      const revision = (newest?.revision ?? 0) + 1;
      await insertPlan(tx, { ...offer, revision, status: 'published' }, unixSeconds(clock));
      applied.changed.push({ id: offer.id, revision });
    }
    return applied;
  });
}

function offerOf({ revision, status, ...offer }: CatalogPlan): CatalogOffer {
  return offer;
}

/** Checks what a schema cannot express. */
function checkOffers(plans: readonly CatalogOffer[]): void {
  const details: ErrorDetail[] = [];
  const firstOf = new Map<string, number>();
  for (const [index, { id, retention_days: retentionDays }] of plans.entries()) {
    const place = `plans[${index}]`;
    const first = firstOf.get(id);
    if (first === undefined) firstOf.set(id, index);
    else details.push({ path: `${place}.id`, message: `plans[${first}] has the same id` });
    if (BASELINE_PLANS.some((name) => name === id)) {
      details.push({ path: `${place}.id`, message: `${id} is reserved for tenants without a plan` });
    }
    if (retentionDays === 0) {
      details.push({ path: `${place}.retention_days`, message: 'expected at least 1, or -1' });
    }
  }
  refuseInvalid(details);
}
