import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import type { BlockArchive } from './block-archive.js';
import * as store from './block-store.js';
import { filterRows, type KeptRows } from './row-filter-store.js';

export interface ArchiveDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'command' | 'insertRows' | 'upToDate'>;
  readonly archive: BlockArchive;
}

/** As many blocks of one level are joined at once: each row is read and written again once per level. */
const JOINED_BLOCKS = 32;
/** Joined blocks have at most this size, uncompressed, because a block is read as a whole. */
const JOINED_BYTES_MAX = 64 * 1_048_576;
/** The level of blocks that are large enough; they are not joined any more. */
const TOP_LEVEL = 9;
/** A day after every other: no row before it is kept. */
const AFTER_ALL_DAYS = 100_000;

/**
 * Joins small blocks to larger ones, so that their number grows slowly. The caller holds the archive.
 * @returns how many blocks were joined
 */
export async function joinBlocks({ postgres, archive }: ArchiveDeps, signal?: AbortSignal): Promise<number> {
  let joined = 0;
  while (signal?.aborted !== true) {
    const full = await store.fullLevel(postgres.db, { count: JOINED_BLOCKS, below: TOP_LEVEL });
    if (full === undefined) break;
    const blocks = fitting(await store.blocksOfLevel(postgres.db, full, JOINED_BLOCKS));
    await replace({ postgres, archive }, blocks, await joinedBlock(archive, blocks));
    joined += blocks.length;
  }
  return joined;
}

/**
 * Removes rows from the archive, also from blocks that have other rows. The caller holds the archive.
 *
 * @param removed before which day the rows of projects are removed
 * @returns how many blocks were rewritten or deleted
 */
export async function removeRows(
  deps: ArchiveDeps,
  removed: KeptRows,
  signal?: AbortSignal,
): Promise<number> {
  const expired = await store.expiredProjects(deps.postgres.db, removed);
  if (expired.length === 0) return 0;
  let changed = 0;
  for (let afterId = 0; signal?.aborted !== true; changed += 1) {
    const block = await store.expiredBlock(deps.postgres.db, expired, afterId);
    if (block === undefined) {
      await transaction(deps.postgres, (tx) => store.recordRemoval(tx, expired));
      break;
    }
    afterId = block.id;
    await replace(deps, [block], await rewritten(deps, block, expired));
  }
  return changed;
}

/** Removes all rows of projects from the archive. */
export async function eraseProjects(deps: ArchiveDeps, projectIds: readonly string[]): Promise<void> {
  const all = projectIds.map((projectId) => ({ projectId, day: AFTER_ALL_DAYS }));
  await store.holdArchive(deps.postgres, () => removeRows(deps, all));
}

/** Returns as many of the oldest blocks as fit in one, at least one. */
function fitting(blocks: readonly store.ArchivedBlock[]): store.ArchivedBlock[] {
  let bytes = 0;
  return blocks.filter(({ byteCount }, index) => {
    bytes += byteCount;
    return index === 0 || bytes <= JOINED_BYTES_MAX;
  });
}

async function joinedBlock(
  archive: BlockArchive,
  blocks: readonly store.ArchivedBlock[],
): Promise<store.NewBlock> {
  const [first] = blocks;
  if (first === undefined) throw new RangeError('no blocks to join');
  const firstDays = new Map<string, number>();
  for (const { projectIds, firstDays: days } of blocks) {
    for (const [index, id] of projectIds.entries()) {
      firstDays.set(id, Math.min(firstDays.get(id) ?? AFTER_ALL_DAYS, days[index] ?? 0));
    }
  }
  const sum = (size: (block: store.ArchivedBlock) => number) =>
    blocks.reduce((total, block) => total + size(block), 0);
  const isFull = blocks.length < JOINED_BLOCKS;
  return {
    objectKey:
      blocks.length === 1 ? first.objectKey : await archive.join(blocks.map(({ objectKey }) => objectKey)),
    dedicatedTo: first.dedicatedTo,
    eventCount: sum(({ eventCount }) => eventCount),
    byteCount: sum(({ byteCount }) => byteCount),
    level: isFull ? TOP_LEVEL : first.level + 1,
    projectIds: [...firstDays.keys()],
    firstDays: [...firstDays.values()],
    lastDay: Math.max(...blocks.map(({ lastDay }) => lastDay)),
  };
}

async function rewritten(
  { clickhouse, archive }: ArchiveDeps,
  block: store.ArchivedBlock,
  removed: KeptRows,
): Promise<store.NewBlock | undefined> {
  const rows = await archive.read(block.objectKey);
  const kept = await filterRows(clickhouse, { rows, eventCount: block.eventCount }, removed);
  if (kept === undefined) return undefined;
  const { rows: keptRows, ...described } = kept;
  const objectKey = await archive.put([keptRows]);
  return { ...block, ...described, objectKey, byteCount: keptRows.length };
}

/** Replaces blocks in one transaction, then deletes their objects. A crash in between leaves objects for the sweep. */
async function replace(
  { postgres, archive }: Pick<ArchiveDeps, 'postgres' | 'archive'>,
  blocks: readonly store.ArchivedBlock[],
  by: store.NewBlock | undefined,
): Promise<void> {
  await transaction(postgres, async (tx) => {
    await store.deleteBlocks(
      tx,
      blocks.map(({ id }) => id),
    );
    if (by !== undefined) await store.insertBlock(tx, by);
  });
  const unused = blocks.map(({ objectKey }) => objectKey).filter((key) => key !== by?.objectKey);
  await archive.remove(unused);
}
