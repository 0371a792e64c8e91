import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Logger } from '../../platform/log/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { createSweepJob, type SweepJob } from '../../platform/sweep-job.js';
import {
  countUnpricedOfDay,
  lastUncountedDay,
  recordUnpriced,
  uncountedDays,
} from './unpriced-days-store.js';

export interface UnpricedDaysDeps {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly clickhouse: Pick<ClickHouse, 'upToDate'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Poll interval for days that could not be counted, and for totals of processes that run an earlier release. */
const POLL_MS = 10 * 60_000;
/** Later than any day. */
const LAST_DAY = 0x7fff_ffff;

/**
 * Counts the unpriced events of days that were rated by a release without that count. A sweep counts each such day
 * once, the latest first, and returns how many totals it completed. Each count is recorded once.
 */
export function createUnpricedDaysJob({ postgres: { db }, clickhouse, log }: UnpricedDaysDeps): SweepJob {
  const sweep = async (signal?: AbortSignal) => {
    let recorded = 0;
    let day = await lastUncountedDay(db, LAST_DAY);
    while (day !== undefined && signal?.aborted !== true) {
      // Read before the history, so that later changes are noticed.
      const uncounted = await uncountedDays(db, day);
      const unpriced = await countUnpricedOfDay(db, clickhouse, day, signal);
      for (const each of uncounted) {
        if (await recordUnpriced(db, day, each, unpriced.get(each.projectId) ?? 0)) recorded += 1;
      }
      day = await lastUncountedDay(db, day);
    }
    if (recorded > 0) log.info({ recorded }, 'counted unpriced events of earlier days');
    return recorded;
  };
  const failureMessage = 'unpriced events of earlier days could not be counted; this is tried again';
  return createSweepJob({ sweep, pollMs: POLL_MS, log, failureMessage });
}
