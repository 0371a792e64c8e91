import { monthOfDay } from './days.js';
import * as store from './expiry-store.js';
import type { Boundary } from './retention-store.js';
import { SHARED_TABLES, storageTables } from './tables.js';

/** What was deleted, or begun to be. */
export interface ExpiredHistory {
  /** Months of tables that only one project has. */
  readonly partitionsDropped: number;
  /** Months of shared tables out of which the rows of some projects go. */
  readonly deletions: number;
  /** Tables in which an earlier deletion cannot be done, and why. */
  readonly stuck: readonly { readonly table: string; readonly problem: string }[];
}

/**
 * Deletes the months that lie wholly before projects' boundaries. A month goes once it is over for all of
 * them, so that a part of a shared table is written anew as often as there are lengths of retention, and not
 * every day; nobody sees what waits for that.
 */
export async function expire(
  clickhouse: store.HistoryStore,
  boundaries: readonly Boundary[],
  signal?: AbortSignal,
): Promise<ExpiredHistory> {
  const dedicated = boundaries.filter(({ storage }) => storage === 'dedicated');
  const shared = boundaries.filter(({ storage }) => storage === 'shared');
  const partitionsDropped = await dropOwnMonths(clickhouse, dedicated, signal);
  return { partitionsDropped, ...(await deleteFromSharedMonths(clickhouse, shared, signal)) };
}

async function dropOwnMonths(
  clickhouse: store.HistoryStore,
  boundaries: readonly Boundary[],
  signal?: AbortSignal,
): Promise<number> {
  let dropped = 0;
  for (const boundary of boundaries) {
    const { events, rollup } = storageTables(boundary);
    const month = monthOfDay(boundary.retainedFromDay);
    for (const partition of await store.partitionsBefore(clickhouse, [events, rollup], month)) {
      if (signal?.aborted === true) return dropped;
      await store.dropPartition(clickhouse, partition);
      dropped++;
    }
  }
  return dropped;
}

/** Never drops a month, even where nobody keeps it: late events of somebody who does may arrive meanwhile. */
async function deleteFromSharedMonths(
  clickhouse: store.HistoryStore,
  boundaries: readonly Boundary[],
  signal?: AbortSignal,
): Promise<Omit<ExpiredHistory, 'partitionsDropped'>> {
  if (boundaries.length === 0) return { deletions: 0, stuck: [] };
  const firstMonths = new Map(
    boundaries.map(({ projectId, retainedFromDay }) => [projectId, monthOfDay(retainedFromDay)]),
  );
  const tables = [SHARED_TABLES.events, SHARED_TABLES.rollup];
  const underWay = await store.tablesInDeletion(clickhouse, tables);
  // What is being deleted is still found: it is not deleted twice.
  const free = tables.filter((name) => underWay.every(({ table }) => table !== name));
  let deletions = 0;
  for (const partition of await store.partitionsBefore(
    clickhouse,
    free,
    Math.max(0, ...firstMonths.values()),
  )) {
    if (signal?.aborted === true) break;
    const expired = (await store.projectsIn(clickhouse, partition)).filter(
      ({ projectId }) => partition.month < (firstMonths.get(projectId) ?? 0),
    );
    if (expired.length === 0) continue;
    await store.deleteProjects(clickhouse, partition, expired);
    deletions++;
  }
  return { deletions, stuck: underWay.filter(({ problem }) => problem !== '') };
}
