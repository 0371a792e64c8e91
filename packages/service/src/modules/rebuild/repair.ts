import type { RepairReport } from '@tollgate/contract';
import type { ConfirmInsert } from '../../platform/clickhouse/index.js';
import {
  type ArchivedBlock,
  everyBlock,
  holdArchive,
  removeRows,
  withScratchTable,
} from '../archive/index.js';
import { checkViews, tablesOfRows } from '../pipeline/index.js';
import { dropMonth, firstKeptDays, monthOfDay, monthsOf, projectsWithOwnTables } from '../storage/index.js';
import { differingDays, type ProjectDays } from '../verify/index.js';
import {
  type ArchivedDeps,
  checkComplete,
  checkObjects,
  ownSuffixes,
  type RebuildDeps,
  type RebuildOptions,
  requireArchive,
} from './rebuild.js';
import * as store from './rebuild-store.js';
import { completeTables, copyMonths, dropForeignTables, forgetRecordedGroups } from './table-store.js';

/** The months of one storage that are replaced. */
interface DamagedMonths {
  readonly dedicatedTo: number | null;
  readonly months: ReadonlySet<number>;
}

/**
 * Brings ClickHouse back to what PostgreSQL has committed: compares both, replaces each differing month by that of the
 * archive, and drops tables of projects that do not exist. Accepting and rating go on; rated batches wait meanwhile.
 *
 * @throws DomainError `rebuild_refused` if the archive cannot replace the months; then no row has changed
 * @throws ArchiveDamagedError before any row has changed
 */
export async function repairHistory(deps: RebuildDeps, options: RebuildOptions = {}): Promise<RepairReport> {
  const { postgres, clock } = deps;
  const archive = requireArchive(deps);
  return holdArchive(postgres, async () => {
    const wasInterrupted = await store.beginRebuild(postgres, clock.nowMs());
    return store.workAlone(deps, async (confirm) => {
      let damaged: readonly DamagedMonths[];
      try {
        damaged = await findDamage({ ...deps, archive }, options);
      } catch (error) {
        if (!wasInterrupted) await store.endRebuild(postgres, { isComplete: false });
        throw error;
      }
      return renewAll({ ...deps, archive }, damaged, confirm);
    });
  });
}

/** Compares both stores. Changes no row that PostgreSQL knows. */
async function findDamage(deps: ArchivedDeps, options: RebuildOptions): Promise<DamagedMonths[]> {
  const { postgres, clickhouse, clock, log } = deps;
  const suffixes = await ownSuffixes(postgres);
  await checkViews(clickhouse, async () => suffixes);
  if (!(await store.hasMovingTenant(postgres))) await dropForeignTables(clickhouse, suffixes);
  await completeTables(clickhouse, suffixes);
  await removeRows(deps, await firstKeptDays(postgres.db, clock.nowMs()));
  const damaged = await damagedMonths(deps, await differingDays(deps));
  log.info({ months: damaged.map(({ months }) => [...months]) }, 'replacing the months that differ');
  if (damaged.length > 0) await checkComplete(postgres, options);
  await checkObjects(deps, (block) => damaged.some((each) => isIn(block, each)), options);
  return damaged;
}

async function renewAll(
  deps: ArchivedDeps,
  damaged: readonly DamagedMonths[],
  confirm: ConfirmInsert,
): Promise<RepairReport> {
  await forgetRecordedGroups(deps.clickhouse);
  const historyId = await store.beginHistory(deps);
  let [months, events] = [0, 0];
  for (const each of damaged) {
    events += await renewMonths(deps, each, { historyId, confirm });
    months += each.months.size;
  }
  await confirm();
  await store.endRebuild(deps.postgres, { isComplete: false });
  return { months, events };
}

/** Returns the months of the given days, by storage. Rows of a project that does not exist are in the shared tables. */
async function damagedMonths(
  { postgres }: RebuildDeps,
  days: readonly ProjectDays[],
): Promise<DamagedMonths[]> {
  const projects = await projectsWithOwnTables(postgres.db);
  const own = new Map(projects.map(({ projectId, projectNo }) => [projectId, projectNo]));
  const byStorage = new Map<number | null, Set<number>>();
  for (const { projectId, firstDay, lastDay } of days) {
    const dedicatedTo = own.get(projectId) ?? null;
    const months = byStorage.get(dedicatedTo) ?? new Set();
    for (const month of monthsOf(firstDay, lastDay)) months.add(month);
    byStorage.set(dedicatedTo, months);
  }
  return Array.from(byStorage, ([dedicatedTo, months]) => ({ dedicatedTo, months }));
}

/** Returns the number of rows that were inserted. */
async function renewMonths(
  { postgres, clickhouse, archive }: ArchivedDeps,
  damaged: DamagedMonths,
  { historyId, confirm }: { readonly historyId: string; readonly confirm: ConfirmInsert },
): Promise<number> {
  const { months } = damaged;
  const tables = tablesOfRows(damaged.dedicatedTo);
  for (const month of months) await dropMonth(clickhouse, tables, month);
  let events = 0;
  for await (const block of everyBlock(postgres.db)) {
    if (!isIn(block, damaged)) continue;
    const rows = await archive.read(block.objectKey);
    events += await withScratchTable(clickhouse, { rows, eventCount: block.eventCount }, (scratch) =>
      copyMonths(clickhouse, scratch, tables, { months, token: `repair-${historyId}-${block.id}`, confirm }),
    );
  }
  return events;
}

function isIn(block: ArchivedBlock, { dedicatedTo, months }: DamagedMonths): boolean {
  if (block.dedicatedTo !== dedicatedTo) return false;
  const first = monthOfDay(Math.min(...block.firstDays));
  const last = monthOfDay(block.lastDay);
  return [...months].some((month) => first <= month && month <= last);
}
