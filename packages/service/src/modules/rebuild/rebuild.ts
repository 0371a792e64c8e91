import type { RebuildReport } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ClickHouse, ConfirmInsert } from '../../platform/clickhouse/index.js';
import type { Logger } from '../../platform/log/index.js';
import { type Postgres, transaction } from '../../platform/postgres/index.js';
import {
  ArchiveDamagedError,
  type ArchivedBlock,
  type BlockArchive,
  everyBlock,
  giveUpBlocks,
  holdArchive,
  removeRows,
} from '../archive/index.js';
import { recordLoss } from '../losses/index.js';
import { tablesOfRows } from '../pipeline/index.js';
import { firstKeptDays, tableSuffix } from '../storage/index.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';
import { lostBlock } from './lost.js';
import * as store from './rebuild-store.js';
import { renewTables } from './table-store.js';

export interface RebuildDeps {
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouse;
  readonly archive: BlockArchive | undefined;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export interface RebuildOptions {
  /** Whether to go on although the archive lacks rows, which are lost then. */
  readonly incomplete?: boolean;
}

/** The progress is logged each time that so many blocks were inserted. */
const BLOCKS_PER_LOG = 100;

/**
 * Rebuilds the whole history in ClickHouse from the archive: deletes every table, creates it again, and inserts each
 * archived row once. Accepting and rating go on; rated batches wait meanwhile. A rebuild that was interrupted is done
 * again from its start, and projectors wait until one is complete.
 *
 * @throws DomainError `rebuild_refused` if the archive cannot replace the history; then nothing has changed
 * @throws ArchiveDamagedError before anything has changed
 */
export async function rebuildHistory(
  deps: RebuildDeps,
  options: RebuildOptions = {},
): Promise<RebuildReport> {
  const { postgres, clock } = deps;
  const archive = requireArchive(deps);
  return holdArchive(postgres, async () => {
    await checkComplete(postgres, options);
    await checkObjects({ ...deps, archive }, () => true, options);
    await store.beginRebuild(postgres, clock.nowMs());
    return store.workAlone(deps, async (confirm) => {
      await renewTables(deps.clickhouse, await ownSuffixes(postgres));
      // The rows are filtered in ClickHouse, which needs the tables.
      await removeRows({ ...deps, archive }, await firstKeptDays(postgres.db, clock.nowMs()));
      const historyId = await store.beginHistory(deps);
      const report = await insertBlocks({ ...deps, archive }, historyId, confirm);
      await confirm();
      await store.endRebuild(postgres, { isComplete: true });
      return report;
    });
  });
}

export type ArchivedDeps = RebuildDeps & { readonly archive: BlockArchive };

/** @throws DomainError `rebuild_refused` without an archive */
export function requireArchive({ archive }: RebuildDeps): BlockArchive {
  if (archive !== undefined) return archive;
  throw new DomainError('rebuild_refused', {
    message:
      'There is no archive, because PostgreSQL is a server and TOLLGATE_OBJECT_STORE_URL is not set. Restore both stores from backups of the same moment, or set TOLLGATE_OBJECT_STORE_URL for all processes and run this command again with --incomplete, which gives up the history that ClickHouse has of these months: see "Without an archive" in docs/guides/backups.md.',
  });
}

/** @throws DomainError `rebuild_refused` if rows would be lost because the archive does not have them */
export async function checkComplete(postgres: Postgres, { incomplete }: RebuildOptions): Promise<void> {
  const missing = await store.unarchivedEvents(postgres);
  if (missing === 0 || incomplete === true) return;
  throw new DomainError('rebuild_refused', {
    message: `The archive lacks ${missing} events: they were inserted into ClickHouse while there was no archive, or were given up. They would be lost: add --incomplete if ClickHouse has lost them too.`,
  });
}

/**
 * Reads objects before the history is deleted: a damaged one must be found while the rows still exist. With
 * `incomplete`, blocks whose objects are missing or damaged are given up.
 *
 * @param isNeeded selects the blocks
 * @throws ArchiveDamagedError that says how to go on
 */
export async function checkObjects(
  { postgres, archive, clock, log }: ArchivedDeps,
  isNeeded: (block: ArchivedBlock) => boolean,
  { incomplete }: RebuildOptions,
): Promise<void> {
  const lost: ArchivedBlock[] = [];
  for await (const block of everyBlock(postgres.db)) {
    if (!isNeeded(block)) continue;
    const { objectKey, eventCount: events } = block;
    const damage = await damageOf(archive, objectKey);
    if (damage === undefined) continue;
    if (incomplete !== true) {
      const wayOut = `restore it, or add --incomplete to give up the history of its ${events} events`;
      throw new ArchiveDamagedError(objectKey, `${damage.problem}: ${wayOut}`);
    }
    log.warn({ objectKey, events }, 'an object of the archive is lost, and its rows are given up');
    lost.push(block);
  }
  if (lost.length === 0) log.info('the objects of the archive are undamaged');
  else await giveUpLost({ postgres, clock }, lost);
}

async function giveUpLost(
  { postgres, clock }: Pick<RebuildDeps, 'postgres' | 'clock'>,
  blocks: readonly ArchivedBlock[],
): Promise<void> {
  const reason = 'made again with --incomplete';
  const givingUp = { atMs: clock.nowMs(), reason, requestId: newId('req', clock) };
  await transaction(postgres, async (tx) => {
    await giveUpBlocks(tx, blocks);
    for (const block of blocks) await recordLoss(tx, await lostBlock({ db: tx }, block), givingUp);
  });
}

async function damageOf(archive: BlockArchive, key: string): Promise<ArchiveDamagedError | undefined> {
  try {
    await archive.check(key);
    return undefined;
  } catch (error) {
    if (error instanceof ArchiveDamagedError) return error;
    throw error;
  }
}

async function insertBlocks(
  { postgres, clickhouse, archive, log }: ArchivedDeps,
  historyId: string,
  confirm: ConfirmInsert,
): Promise<RebuildReport> {
  let [blocks, events] = [0, 0];
  for await (const block of everyBlock(postgres.db)) {
    const bytes = await archive.read(block.objectKey);
    const { events: table } = tablesOfRows(block.dedicatedTo);
    await clickhouse.insertRows(
      table,
      USAGE_EVENT_COLUMNS,
      { bytes },
      block.eventCount,
      `rebuild-${historyId}-${block.id}`,
      confirm,
    );
    blocks += 1;
    events += block.eventCount;
    if (blocks % BLOCKS_PER_LOG === 0) log.info({ blocks, events }, 'rebuilding the history');
  }
  return { blocks, events };
}

/** Returns the suffixes of the tables of projects that have tables of their own. */
export async function ownSuffixes(postgres: Postgres): Promise<string[]> {
  return (await store.ownTableNumbers(postgres)).map(tableSuffix);
}
