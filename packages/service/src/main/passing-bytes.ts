import { archivedObjects, BlockArchive } from '../modules/archive/index.js';
import {
  createColumnSpool,
  createFileSpool,
  createObjectSpool,
  type Spool,
  spooledObjects,
} from '../modules/pipeline/index.js';
import { type ObjectKind, type ObjectStore, openOwnFolder, PROBES } from '../platform/object-store/index.js';
import type { Postgres } from '../platform/postgres/index.js';
import {
  PostgresSegmentQueue,
  SegmentFiles,
  SegmentObjects,
  type SegmentStore,
  type SegmentWriter,
  segmentObjects,
} from '../platform/queue/index.js';
import type { LocalFolders } from './data-dir.js';

/**
 * The place of bytes that need PostgreSQL only for seconds, which are large segments and rows for ClickHouse: files
 * next to an embedded database, or an object store. Without either, the bytes are in the database itself. The archive
 * has the same place; without one, there is no archive.
 */
export interface PassingBytes {
  readonly folders: LocalFolders | undefined;
  readonly objects: ObjectStore | undefined;
}

/** @param writer this process among those that append to the folder; default: the only one */
export async function openSegmentStore(
  { folders, objects }: PassingBytes,
  writer?: SegmentWriter,
): Promise<SegmentStore | undefined> {
  if (folders !== undefined) return SegmentFiles.open(folders.segments, writer && { writer });
  return objects && new SegmentObjects(objects);
}

export async function openSpool({ folders, objects }: PassingBytes): Promise<Spool> {
  if (folders !== undefined) return createFileSpool(folders.spool);
  return objects === undefined ? createColumnSpool() : createObjectSpool(objects);
}

/** Returns the archive of the rows in ClickHouse; undefined without a place for it. */
export async function openArchive({ folders, objects }: PassingBytes): Promise<BlockArchive | undefined> {
  if (folders !== undefined) return new BlockArchive(await openOwnFolder(folders.archive));
  return objects && new BlockArchive(objects);
}

/** Returns the kinds of objects that an installation stores. */
export function objectKinds(postgres: Postgres): readonly ObjectKind[] {
  return [
    segmentObjects(new PostgresSegmentQueue(postgres)),
    spooledObjects(postgres),
    archivedObjects(postgres),
    PROBES,
  ];
}
