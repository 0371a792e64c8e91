import { randomUUID } from 'node:crypto';
import type { RebuildReport } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Logger } from '../../platform/log/index.js';
import { type Postgres, withAdvisoryLock } from '../../platform/postgres/index.js';
import {
  type ArchivedBlock,
  type BlockArchive,
  blocksAfter,
  holdArchive,
  removeRows,
} from '../archive/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';
import { dedicatedSuffixes, firstKeptDays, storageTables } from '../storage/index.js';
import { USAGE_EVENT_COLUMNS } from '../usage/index.js';
import * as store from './rebuild-store.js';
import { renewTables } from './table-store.js';

export interface RebuildDeps {
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouse;
  readonly archive: BlockArchive | undefined;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info'>;
}

export interface RebuildOptions {
  /** Whether to go on although the archive lacks rows, which are lost then. */
  readonly incomplete?: boolean;
}

const BLOCKS_PER_PAGE = 100;

/**
 * Makes the whole history in ClickHouse anew from the archive: deletes every table, creates it again, and inserts each
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
    await checkArchive({ ...deps, archive }, options);
    await store.beginRebuild(postgres, clock.nowMs());
    return withAdvisoryLock(postgres, PROJECTOR_LOCK, async () => {
      await removeRows({ ...deps, archive }, await firstKeptDays(postgres.db, clock.nowMs()));
      await renewTables(deps.clickhouse, await dedicatedSuffixes(postgres));
      await store.forgetGroups(postgres);
      const report = await insertBlocks({ ...deps, archive });
      await store.endRebuild(postgres);
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
      'There is no archive, because both stores are servers and TOLLGATE_OBJECT_STORE_URL is not set: restore ClickHouse from its own backup.',
  });
}

/** Reads every object before the history is deleted: a damaged one must be found while the rows still exist. */
async function checkArchive(
  { postgres, archive, log }: ArchivedDeps,
  { incomplete }: RebuildOptions,
): Promise<void> {
  const missing = await store.unarchivedEvents(postgres);
  if (missing > 0 && incomplete !== true) {
    throw new DomainError('rebuild_refused', {
      message: `The archive lacks ${missing} events that were inserted into ClickHouse before there was an archive. They would be lost: add --incomplete if ClickHouse has lost them too.`,
    });
  }
  for await (const { objectKey } of everyBlock(postgres)) await archive.check(objectKey);
  log.info('all objects of the archive are undamaged');
}

async function insertBlocks({ postgres, clickhouse, archive, log }: ArchivedDeps): Promise<RebuildReport> {
  const token = randomUUID();
  let [blocks, events] = [0, 0];
  for await (const block of everyBlock(postgres)) {
    const bytes = await archive.read(block.objectKey);
    const { events: table } = blockTables(block);
    await clickhouse.insertRows(
      table,
      USAGE_EVENT_COLUMNS,
      { bytes },
      block.eventCount,
      `rebuild-${token}-${block.id}`,
    );
    blocks += 1;
    events += block.eventCount;
    if (blocks % BLOCKS_PER_PAGE === 0) log.info({ blocks, events }, 'the history is made again');
  }
  return { blocks, events };
}

/** Returns the tables of the rows of a block. */
export function blockTables({ dedicatedTo }: Pick<ArchivedBlock, 'dedicatedTo'>) {
  return storageTables(
    dedicatedTo === null
      ? { storage: 'shared', projectNo: 0 }
      : { storage: 'dedicated', projectNo: dedicatedTo },
  );
}

/** Returns every block of the archive, in the order of their ids. The caller holds the archive. */
export async function* everyBlock({ db }: Postgres): AsyncGenerator<ArchivedBlock> {
  for (let after = 0; ; ) {
    const page = await blocksAfter(db, after, BLOCKS_PER_PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
