import type { ObjectKind } from '../../platform/object-store/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { ARCHIVE_FOLDER } from './block-archive.js';
import { archivedKeys, hasBlocks } from './block-store.js';

export { ArchiveDamagedError, BlockArchive } from './block-archive.js';
export { type ArchivedBlock, everyBlock, giveUpBlocks, holdArchive } from './block-store.js';
export { archiveForeignRows } from './foreign-rows.js';
export { withScratchTable } from './row-filter-store.js';
export { type ArchiveDeps, eraseProjects, removeRows } from './upkeep.js';
export { createArchiveJob } from './upkeep-job.js';

/** Selects the objects of the archive; a crash may leave some of them to which no row points. */
export function archivedObjects({ db }: Postgres): ObjectKind {
  return {
    folder: ARCHIVE_FOLDER,
    isInUse: () => hasBlocks(db),
    pointedAt: (keys) => archivedKeys(db, keys),
  };
}
