import type { RepairReport } from '@tollgate/contract';
import { withAdvisoryLock } from '../../platform/postgres/index.js';
import { type ArchivedBlock, holdArchive, removeRows, withScratchTable } from '../archive/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';
import { dedicatedSuffixes, dropMonth, firstKeptDays, monthOfDay, monthsOf } from '../storage/index.js';
import { differingDays, type ProjectDays } from '../verify/index.js';
import { type ArchivedDeps, blockTables, everyBlock, type RebuildDeps, requireArchive } from './rebuild.js';
import * as store from './rebuild-store.js';
import { copyMonths, repairTables } from './table-store.js';

/** The months of one storage that are made again. */
interface DamagedMonths {
  readonly dedicatedTo: number | null;
  readonly months: ReadonlySet<number>;
}

/**
 * Brings ClickHouse back to what PostgreSQL has committed: compares both, makes each month that differs anew from the
 * archive, and drops tables of projects that do not exist. Accepting and rating go on; rated batches wait meanwhile.
 *
 * @throws DomainError `rebuild_refused` without an archive
 * @throws ArchiveDamagedError
 */
export async function repairHistory(deps: RebuildDeps): Promise<RepairReport> {
  const { postgres, clickhouse, clock, log } = deps;
  const archive = requireArchive(deps);
  return holdArchive(postgres, async () => {
    await store.beginRebuild(postgres, clock.nowMs());
    return withAdvisoryLock(postgres, PROJECTOR_LOCK, async () => {
      await removeRows({ ...deps, archive }, await firstKeptDays(postgres.db, clock.nowMs()));
      await repairTables(clickhouse, await dedicatedSuffixes(postgres));
      const damaged = await damagedMonths(deps, await differingDays(deps));
      log.info({ months: damaged.map(({ months }) => [...months]) }, 'months that differ are made again');
      await store.forgetGroups(postgres);
      let [months, events] = [0, 0];
      for (const each of damaged) {
        events += await renewMonths({ ...deps, archive }, each);
        months += each.months.size;
      }
      await store.endRebuild(postgres);
      return { months, events };
    });
  });
}

/** Returns the months of the given days, by storage. Rows of a project that does not exist are in the shared tables. */
async function damagedMonths(
  { postgres }: RebuildDeps,
  days: readonly ProjectDays[],
): Promise<DamagedMonths[]> {
  const own = await store.dedicatedProjects(postgres);
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
  { dedicatedTo, months }: DamagedMonths,
): Promise<number> {
  const tables = blockTables({ dedicatedTo });
  for (const month of months) await dropMonth(clickhouse, tables, month);
  let events = 0;
  for await (const block of everyBlock(postgres)) {
    if (block.dedicatedTo !== dedicatedTo || !hasOneOf(block, months)) continue;
    const rows = await archive.read(block.objectKey);
    events += await withScratchTable(clickhouse, { rows, eventCount: block.eventCount }, (scratch) =>
      copyMonths(clickhouse, scratch, tables, months),
    );
  }
  return events;
}

function hasOneOf({ firstDays, lastDay }: ArchivedBlock, months: ReadonlySet<number>): boolean {
  const first = monthOfDay(Math.min(...firstDays));
  const last = monthOfDay(lastDay);
  return [...months].some((month) => first <= month && month <= last);
}
