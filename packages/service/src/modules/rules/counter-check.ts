import { DomainError, refuseInvalid } from '../../kernel/errors.js';
import type { ProjectTx } from '../../platform/postgres/index.js';
import { insertCounters, publishedCounters } from './counter-store.js';
import type { DefinedCounter } from './extract/index.js';

/**
 * Checks that no counter of the published versions is defined in another way: it goes on with the total that it has.
 *
 * @returns the counters that no published version has
 * @throws DomainError `counter_changed`
 */
export async function checkCounters(
  tx: ProjectTx,
  ruleSetId: string,
  counters: readonly DefinedCounter[],
): Promise<DefinedCounter[]> {
  if (counters.length === 0) return [];
  const published = await publishedCounters(tx, ruleSetId);
  const details = counters.flatMap(({ name, text, path }) => {
    const known = published.get(name);
    return known === undefined || known === text
      ? []
      : { path, message: `expected ${known}, or another name` };
  });
  if (details.length > 0) throw new DomainError('counter_changed', { details });
  return counters.filter(({ name }) => !published.has(name));
}

/**
 * Records the counters of a version that is being published, so that later versions define them alike.
 *
 * @throws DomainError `counter_changed`
 */
export async function publishCounters(
  tx: ProjectTx,
  ruleSetId: string,
  counters: readonly DefinedCounter[],
): Promise<void> {
  await insertCounters(tx, ruleSetId, await checkCounters(tx, ruleSetId, counters));
}

/**
 * Checks that cost rules have no counters, which count what is charged.
 *
 * @throws DomainError `invalid_request` with every place that has one
 */
export function refuseCountedCosts(counters: readonly DefinedCounter[]): void {
  const details = counters.map(({ path }) => ({
    path,
    message: 'a cost cannot depend on a counter: expected unit_price_expr, amount_expr or both',
  }));
  refuseInvalid(details);
}
