import type { ClickHouse } from '../../platform/clickhouse/index.js';

/** Has the numbers of inserted groups, beside their rows. */
export type RecordedGroupsStore = Pick<ClickHouse, 'upToDate' | 'command'>;

/** The knowledge of PostgreSQL about the groups that it has numbered. */
export interface ProjectionState {
  /** Names the history in ClickHouse that belongs to this database. */
  readonly historyId: string;
  /** The greatest number of a group that was formed. */
  readonly lastFormed: number;
  /** The greatest number of a group whose rows are in ClickHouse. */
  readonly lastEnded: number;
  /** The history is being rebuilt or repaired, or was when a process died. */
  readonly isRebuilding: boolean;
}

/** ClickHouse does not have what PostgreSQL has committed; the message says why and what to do. */
export class HistoryMismatchError extends Error {
  override readonly name = 'HistoryMismatchError';
  /** The reason in `/readyz`. */
  readonly code: 'rebuilding' | 'stores_differ';

  constructor(message: string, code: HistoryMismatchError['code'] = 'stores_differ') {
    super(message);
    this.code = code;
  }
}

/** The history that is compared with PostgreSQL, and the means to repair it. */
export interface ComparedHistory {
  readonly clickhouse: RecordedGroupsStore;
  /** Whether there is an archive, from which `tollgate repair` takes the rows. */
  readonly hasArchive: boolean;
}

const REPAIR = 'Rows are not inserted until this is repaired: see tollgate repair in docs/guides/backups.md.';
/** Without an archive a repair is refused, so the operator needs another way. */
const NO_ARCHIVE =
  'Rows are not inserted until both belong together, and there is no archive to repair from, because TOLLGATE_OBJECT_STORE_URL is not set. If a URL is wrong, correct it. Otherwise restore both stores from backups of the same moment, or give up the months that differ: set TOLLGATE_OBJECT_STORE_URL for all processes and run tollgate repair --incomplete, see "Without an archive" in docs/guides/backups.md.';

/**
 * Checks that ClickHouse has the rows of all groups that were ended, and of no group that PostgreSQL does not know. A
 * store that was emptied, replaced or restored to an earlier time fails the check until the history is repaired: rows
 * would be missing, or would be inserted twice.
 *
 * @param before the state of PostgreSQL, read before this call
 * @param readState returns the current state of PostgreSQL; called only if other projectors seem to have formed groups
 * @throws HistoryMismatchError
 */
export async function checkHistory(
  { clickhouse, hasArchive }: ComparedHistory,
  before: ProjectionState,
  readState: () => Promise<ProjectionState>,
): Promise<void> {
  const recorded = await lastRecorded(clickhouse, before.historyId);
  const remedy = hasArchive ? REPAIR : NO_ARCHIVE;
  // A group is recorded before its rows are inserted, and ended after that. So every ended group is recorded.
  if ((recorded.own ?? 0) < before.lastEnded) {
    throw new HistoryMismatchError(
      recorded.own === undefined
        ? `ClickHouse is empty or is another one: it has no rows of this installation, which has inserted ${before.lastEnded} groups of rows. ${remedy}`
        : `ClickHouse is older than PostgreSQL: it has rows up to group ${recorded.own}, and group ${before.lastEnded} was inserted. ${remedy}`,
    );
  }
  if (recorded.own === undefined && recorded.isForeign) {
    throw new HistoryMismatchError(
      `ClickHouse has the rows of another installation, or PostgreSQL was replaced by an empty one. ${remedy}`,
    );
  }
  if (recorded.own === undefined || recorded.own <= before.lastFormed) return;
  // Other projectors may have formed groups since; a group is numbered before it is recorded.
  const { lastFormed } = await readState();
  if (recorded.own <= lastFormed) return;
  throw new HistoryMismatchError(
    `PostgreSQL is older than ClickHouse, as after a restore: ClickHouse has rows of group ${recorded.own}, and PostgreSQL knows groups up to ${lastFormed}. ${remedy}`,
  );
}

/** Records that the rows of a group may be in ClickHouse from now on. */
export async function recordGroup(
  clickhouse: RecordedGroupsStore,
  historyId: string,
  groupNo: number,
): Promise<void> {
  await clickhouse.command(
    'INSERT INTO recorded_groups (history_id, group_no) SELECT {history:UUID}, {group:UInt64}',
    { history: historyId, group: groupNo },
  );
}

interface RecordedGroups {
  /** The greatest number of a group of this history; undefined without any. */
  readonly own: number | undefined;
  /** Whether ClickHouse has groups of another history. */
  readonly isForeign: boolean;
}

async function lastRecorded(clickhouse: RecordedGroupsStore, historyId: string): Promise<RecordedGroups> {
  const reader = await clickhouse.upToDate(['recorded_groups']);
  const rows = await reader.query<{ own: string; ownCount: string; allCount: string }>(
    `SELECT maxIf(group_no, history_id = {history:UUID}) AS own, countIf(history_id = {history:UUID}) AS ownCount,
       count() AS allCount FROM recorded_groups`,
    { history: historyId },
  );
  const { own = '0', ownCount = '0', allCount = '0' } = rows[0] ?? {};
  return { own: ownCount === '0' ? undefined : Number(own), isForeign: allCount !== '0' };
}
