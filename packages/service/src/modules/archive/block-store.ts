import { type RawBuilder, sql } from 'kysely';
import {
  type Db,
  type Postgres,
  pollAdvisoryLock,
  type Tx,
  tryAdvisoryLock,
} from '../../platform/postgres/index.js';

/** Names the advisory lock of a process that replaces blocks. */
const ARCHIVE_LOCK = 'tollgate/archive';
const BLOCKS_PER_PAGE = 100;

/** The number of the project whose own tables the rows belong to; null for the shared tables. */
export type BlockStorage = number | null;

/** Rows of one storage, as one object of the archive. */
export interface NewBlock {
  readonly objectKey: string;
  readonly dedicatedTo: BlockStorage;
  readonly eventCount: number;
  /** The size of the rows, uncompressed. */
  readonly byteCount: number;
  /** How often blocks were joined to this one. */
  readonly level: number;
  readonly projectIds: readonly string[];
  /** The first day of each project, as days since 1970, or an earlier day. */
  readonly firstDays: readonly number[];
  /** The last day of all projects, or a later day. */
  readonly lastDay: number;
}

export interface ArchivedBlock extends NewBlock {
  readonly id: number;
}

const COLUMNS = sql`id, object_key as "objectKey", dedicated_to as "dedicatedTo", event_count as "eventCount",
  byte_count as "byteCount", level, project_ids as "projectIds", first_days as "firstDays", last_day as "lastDay"`;

export async function insertBlock(tx: Tx, block: NewBlock): Promise<void> {
  await sql`
    insert into archived_blocks
      (object_key, dedicated_to, event_count, byte_count, level, project_ids, first_days, last_day)
    values (${block.objectKey}, ${block.dedicatedTo}, ${block.eventCount}, ${block.byteCount}, ${block.level},
      ${block.projectIds}::text[], ${block.firstDays}::integer[], ${block.lastDay})
  `.execute(tx);
}

/** Deletes the records of blocks. @throws Error if one of them is not there any more: then nothing may change */
export async function deleteBlocks(tx: Tx, ids: readonly number[]): Promise<void> {
  const { numAffectedRows } = await sql`delete from archived_blocks where id = any(${ids}::bigint[])`.execute(
    tx,
  );
  if (numAffectedRows !== BigInt(ids.length))
    throw new Error('another process has replaced blocks of the archive');
}

/** Returns every block, in the order of their ids. */
export async function* everyBlock(db: Db): AsyncGenerator<ArchivedBlock> {
  for (let afterId = 0; ; ) {
    const { rows } = await sql<ArchivedBlock>`
      select ${COLUMNS} from archived_blocks where id > ${afterId} order by id limit ${BLOCKS_PER_PAGE}
    `.execute(db);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}

/**
 * Returns a storage and a level that have at least `count` blocks; undefined if there is none.
 *
 * @param below only levels below this one
 */
export async function fullLevel(
  db: Db,
  { count, below }: { readonly count: number; readonly below: number },
): Promise<Pick<ArchivedBlock, 'dedicatedTo' | 'level'> | undefined> {
  const { rows } = await sql<Pick<ArchivedBlock, 'dedicatedTo' | 'level'>>`
    select dedicated_to as "dedicatedTo", level from archived_blocks where level < ${below}
    group by level, dedicated_to having count(*) >= ${count} order by level limit 1
  `.execute(db);
  return rows[0];
}

/** Returns the oldest blocks of a storage and a level. */
export async function blocksOfLevel(
  db: Db,
  { dedicatedTo, level }: Pick<ArchivedBlock, 'dedicatedTo' | 'level'>,
  limit: number,
): Promise<ArchivedBlock[]> {
  const { rows } = await sql<ArchivedBlock>`
    select ${COLUMNS} from archived_blocks
    where level = ${level} and dedicated_to is not distinct from ${dedicatedTo}::integer order by id limit ${limit}
  `.execute(db);
  return rows;
}

/** A project, and the first day of its rows that are kept; days since 1970. */
export interface KeptFrom {
  readonly projectId: string;
  readonly day: number;
}

/** Returns those projects that may have rows in the archive before the first day that is kept. Reads no block. */
export async function expiredProjects(db: Db, kept: readonly KeptFrom[]): Promise<KeptFrom[]> {
  if (kept.length === 0) return [];
  const { rows } = await sql<KeptFrom>`
    with kept as materialized (${listOf(kept)})
    select project_id as "projectId", day from kept join archived_projects using (project_id) where first_day < day
  `.execute(db);
  return rows;
}

/**
 * Returns the first block after an id that has rows of a project before the first day that is kept. Blocks that have
 * none of the projects, or no day before the last of these days, are passed over without a look at each project.
 */
export async function expiredBlock(
  db: Db,
  kept: readonly KeptFrom[],
  afterId: number,
): Promise<ArchivedBlock | undefined> {
  const projectIds = kept.map(({ projectId }) => projectId);
  const beforeDay = kept.reduce((last, { day }) => Math.max(last, day), 0);
  const { rows } = await sql<ArchivedBlock>`
    with kept as materialized (${listOf(kept)})
    select ${COLUMNS} from archived_blocks block
    where id > ${afterId} and ${beforeDay} > any(block.first_days) and block.project_ids && ${projectIds}::text[]
      and exists (
        select from unnest(block.project_ids, block.first_days) as has (project_id, first_day)
        join kept on kept.project_id = has.project_id and has.first_day < kept.day
      )
    order by id limit 1
  `.execute(db);
  return rows[0];
}

/**
 * Records that the archive has no rows of projects before the first day that is kept, unless a block with such rows was
 * added meanwhile. Blocks that are being added are waited for, and later ones wait: otherwise one could be overlooked.
 */
export async function recordRemoval(tx: Tx, kept: readonly KeptFrom[]): Promise<void> {
  await sql`lock table archived_blocks in share mode`.execute(tx);
  if ((await expiredBlock(tx, kept, 0)) !== undefined) return;
  await sql`
    with kept as materialized (${listOf(kept)})
    update archived_projects archived set first_day = kept.day from kept
    where kept.project_id = archived.project_id and archived.first_day < kept.day
  `.execute(tx);
}

/** Returns SQL for a table with `project_id` and `day`. */
function listOf(kept: readonly KeptFrom[]): RawBuilder<unknown> {
  const [ids, days] = [kept.map(({ projectId }) => projectId), kept.map(({ day }) => day)];
  return sql`select * from unnest(${ids}::text[], ${days}::integer[]) as each (project_id, day)`;
}

/** Returns those of the keys that a block has. */
export async function archivedKeys(db: Db, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`
    select object_key as key from archived_blocks where object_key = any(${keys}::text[])
  `.execute(db);
  return new Set(rows.map(({ key }) => key));
}

export async function hasBlocks(db: Db): Promise<boolean> {
  const { rows } = await sql<{
    found: boolean;
  }>`select exists (select from archived_blocks) as found`.execute(db);
  return rows[0]?.found === true;
}

/** Gives up blocks whose objects are lost: their rows count as rows that the archive does not have. */
export async function giveUpBlocks(tx: Tx, blocks: readonly ArchivedBlock[]): Promise<void> {
  await deleteBlocks(
    tx,
    blocks.map(({ id }) => id),
  );
  await countUnarchived(
    tx,
    blocks.reduce((sum, { eventCount }) => sum + eventCount, 0),
  );
}

/** Counts rows in ClickHouse that the archive does not have. */
export async function countUnarchived(tx: Tx, events: number): Promise<void> {
  await sql`update projection_state set unarchived_events = unarchived_events + ${events}`.execute(tx);
}

/** Runs `work` while no other process replaces blocks. The others wait without a connection: work can take hours. */
export function holdArchive<T>(postgres: Pick<Postgres, 'pool' | 'db'>, work: () => Promise<T>): Promise<T> {
  return pollAdvisoryLock(postgres, ARCHIVE_LOCK, work);
}

/** The same, but returns undefined at once if another process does so. */
export function tryHoldArchive<T>(
  postgres: Pick<Postgres, 'pool' | 'db'>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  return tryAdvisoryLock(postgres, ARCHIVE_LOCK, work);
}
