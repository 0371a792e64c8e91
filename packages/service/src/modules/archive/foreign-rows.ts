import type { Tx } from '../../platform/postgres/index.js';
import { LAST_DAY_UNKNOWN, type StorageScope } from '../storage/index.js';
import type { BlockArchive } from './block-archive.js';
import { countUnarchived, insertBlock } from './block-store.js';

/** Rows of one project that came from another installation, and whose days are not known. */
export interface ForeignRows {
  readonly project: Pick<StorageScope, 'projectId' | 'projectNo' | 'storage'>;
  readonly rows: Buffer;
  readonly eventCount: number;
}

/**
 * Puts rows into the archive that were not projected here. They are part of it once the returned function has run in a
 * transaction that commits.
 *
 * @param archive undefined if there is no place for one; then the rows are counted as missing in it
 */
export async function archiveForeignRows(
  archive: BlockArchive | undefined,
  { project, rows, eventCount }: ForeignRows,
): Promise<(tx: Tx) => Promise<void>> {
  if (eventCount === 0) return async () => {};
  if (archive === undefined) return (tx) => countUnarchived(tx, eventCount);
  const objectKey = await archive.put([rows]);
  const dedicatedTo = project.storage === 'dedicated' ? project.projectNo : null;
  return (tx) =>
    insertBlock(tx, {
      objectKey,
      dedicatedTo,
      eventCount,
      byteCount: rows.length,
      level: 0,
      projectIds: [project.projectId],
      firstDays: [0],
      lastDay: LAST_DAY_UNKNOWN,
    });
}
