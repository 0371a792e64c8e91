import type { Clock } from '../../kernel/clock.js';
import type { Logger } from '../../platform/log/index.js';
import { Counter, type Metrics } from '../../platform/metrics/index.js';
import { createSweepJob, type SweepJob } from '../../platform/sweep-job.js';
import { firstKeptDays } from '../storage/index.js';
import { tryHoldArchive } from './block-store.js';
import { type ArchiveDeps, joinBlocks, removeRows } from './upkeep.js';

export interface ArchiveJobDeps extends ArchiveDeps {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: Metrics;
}

const POLL_MS = 60_000;

/**
 * Creates the job that joins small blocks of the archive, and removes rows of days that are no longer kept. A sweep
 * returns how many blocks it replaced; of all jobs on one database, one at a time does the work.
 */
export function createArchiveJob(deps: ArchiveJobDeps): SweepJob {
  const { postgres, clock, log, metrics } = deps;
  const failures = new Counter({
    name: 'tollgate_archive_failures_total',
    help: 'Failed attempts to join blocks of the archive or to remove expired rows; they are repeated.',
    registers: [metrics],
  });
  return createSweepJob({
    async sweep(signal) {
      const replaced = await tryHoldArchive(postgres, async () => {
        const expired = await removeRows(deps, await firstKeptDays(postgres.db, clock.nowMs()), signal);
        if (expired > 0) log.info({ blocks: expired }, 'removed expired rows from the archive');
        return expired + (await joinBlocks(deps, signal));
      });
      return replaced ?? 0;
    },
    pollMs: POLL_MS,
    log,
    failureMessage: 'the upkeep of the archive has failed; will try again',
    failures,
  });
}
