import { DAY_S } from '@tollgate/timezone';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { projectsWithExpiredUsage, retainedFromDays } from '../storage/index.js';
import type { KnownLosses } from './known-losses.js';
import type { PendingBatch } from './totals-store.js';

export interface PostingCheckDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'upToDate'>;
  readonly losses: Pick<KnownLosses, 'completeFromS'>;
  /** Waits for batches to reach ClickHouse; returns the projects whose batches do not. */
  readonly wait: (batches: readonly PendingBatch[]) => Promise<ReadonlySet<string>>;
}

/** Returns the time from which the history of a project contains everything that was posted, Unix seconds. */
export async function completeFromS({
  postgres: { db },
  losses,
}: Pick<PostingCheckDeps, 'postgres' | 'losses'>): Promise<(projectId: string) => number> {
  const expired = await projectsWithExpiredUsage(db);
  const days = await retainedFromDays(db);
  return (projectId) =>
    Math.max(
      expired.has(projectId) ? (days.get(projectId) ?? 0) * DAY_S : 0,
      losses.completeFromS(projectId),
    );
}
