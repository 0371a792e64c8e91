import { onSnapshot } from '../../platform/postgres/index.js';
import { everyTable, projectsWithOwnTables, retainedFromDays } from '../storage/index.js';
import { compareNumbers, countedAlike, dayKey, type Measurement, spansOf } from './compare.js';
import { daysWithHistory, ITEM_STORES, readFound } from './history-store.js';
import type { VerifyDeps } from './service.js';
import { daysWithTotals, type ProjectDays, readExpected, waitingDays } from './totals-store.js';

/**
 * Returns the days on which ClickHouse does not have what PostgreSQL has committed, and all days of batches that wait
 * for ClickHouse. No row may be inserted into ClickHouse meanwhile.
 */
export async function differingDays({
  postgres,
  clickhouse,
}: Pick<VerifyDeps, 'postgres' | 'clickhouse'>): Promise<ProjectDays[]> {
  const own = await projectsWithOwnTables(postgres.db);
  const history = await clickhouse.upToDate(everyTable(own));
  const days = [...(await daysWithTotals(postgres.db)), ...(await daysWithHistory(history, own))];
  const differing = new Map<string, ProjectDays>();
  for (const span of spansOf(days)) {
    // The totals include batches that wait, so these are read at the same moment.
    const { expected, waiting } = await onSnapshot(postgres, async (tx) => ({
      expected: await readExpected(tx, span),
      waiting: await waitingDays(tx),
    }));
    const found = await readFound(history, own, span);
    const retained = await retainedFromDays(postgres.db);
    const judged = (measurements: readonly Measurement[]) =>
      measurements.filter(
        ({ projectId, day }) =>
          day >= (retained.get(projectId) ?? 0) &&
          !waiting.some(
            (each) => each.projectId === projectId && each.firstDay <= day && day <= each.lastDay,
          ),
      );
    const pairs = ITEM_STORES.map((store) => [expected.items, found.items[store]] as const);
    for (const [left, right] of [
      ...pairs,
      ...found.extremes.map((stored) => [stored.expected, stored.found] as const),
      [expected.events, countedAlike(expected.events, found.events)] as const,
    ]) {
      for (const { at } of compareNumbers(judged(left), judged(right)).unequal) {
        differing.set(dayKey(at), { projectId: at.projectId, firstDay: at.day, lastDay: at.day });
      }
    }
  }
  return [...differing.values(), ...(await waitingDays(postgres.db))];
}
