import { type Postgres, transaction } from '../../platform/postgres/index.js';
import { lockSpool, referencedSpoolFiles } from './batch-store.js';
import type { Spool } from './spool.js';

/**
 * Removes spooled rows that no batch points at: a crash leaves them between writing a file and committing, or between
 * deleting a batch and its file. Safe at any time and with any number of workers, because it waits for batches that
 * have a file and no row yet.
 */
export async function sweepSpool(postgres: Postgres, spool: Spool): Promise<void> {
  await transaction(postgres, async (tx) => {
    await lockSpool(tx);
    const files = await spool.list();
    if (files.length === 0) return;
    const referenced = await referencedSpoolFiles(tx, files);
    for (const spoolFile of files) {
      if (!referenced.has(spoolFile)) await spool.remove({ spoolFile, bytes: null });
    }
  });
}
