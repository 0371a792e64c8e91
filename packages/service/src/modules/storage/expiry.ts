import { monthOfDay } from './days.js';
import * as store from './expiry-store.js';
import type { Boundary } from './retention-store.js';
import { SHARED_TABLES, storageTables } from './tables.js';

/** The result of deleting expired history. */
export interface ExpiredHistory {
  /** Number of months that were dropped from the tables of single projects. */
  readonly partitionsDropped: number;
  /** Number of months in shared tables for which a deletion of some projects' rows was started. */
  readonly deletions: number;
  /** Tables in which an earlier deletion fails, with its error. */
  readonly stuck: readonly { readonly table: string; readonly problem: string }[];
}

/**
 * Deletes the months that lie entirely before projects' boundaries. A month is deleted once it is over for all of these
 * projects, so that a part of a shared table is rewritten once for each length of retention, and not every day. Rows
 * that wait for that are hidden meanwhile.
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

/**
 * Deletes rows from shared months. Never drops a month, even when no project keeps it: late events of another project
 * may be inserted meanwhile.
 */
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
  // Rows whose deletion is under way are still found; skip their tables, so that nothing is deleted twice.
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
