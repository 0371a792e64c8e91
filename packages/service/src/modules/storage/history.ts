import { DAY_S } from '@tollgate/timezone';
import { FlightCache } from '../../platform/flight-cache.js';
import type { Db, Postgres } from '../../platform/postgres/index.js';
import { readExcludedDimensions } from './excluded-dimension-store.js';
import { shownFromDayOf } from './retention-store.js';
import type { StorageScope } from './tables.js';

/** A project with the boundary of its history. */
export interface HistoryScope extends StorageScope {
  /** Usage before this moment (Unix seconds) is hidden, whether it is deleted already or not. */
  readonly retainedFrom: number;
  /** Dimensions that some rows of the rollup lack; their values must be read from the events. */
  readonly excludedDimensions: readonly string[];
}

/** Returns where a project's history is and how much of it is kept. Every read of history asks here first. */
export interface UsageHistory {
  /** Returns without a promise when the scope is cached. */
  scopeOf(project: StorageScope): HistoryScope | Promise<HistoryScope>;
  /** Clears the cache. */
  forget(): void;
}

/** Age up to which a cached value is used; deletion waits much longer than that. */
export const HISTORY_FRESH_MS = 10_000;
const PROJECTS_CACHED_MAX = 20_000;

export interface UsageHistoryOptions {
  readonly postgres: Pick<Postgres, 'db'>;
  /** A clock that never goes back; measures the age of cached values. */
  readonly monotonicMs?: () => number;
}

export function createUsageHistory({ postgres, monotonicMs }: UsageHistoryOptions): UsageHistory {
  const kept = new FlightCache({
    lookUp: (projectId) => readKept(postgres.db, projectId),
    ageMsMax: HISTORY_FRESH_MS,
    entriesMax: PROJECTS_CACHED_MAX,
    nowMs: monotonicMs ?? (() => performance.now()),
  });
  return {
    scopeOf(project) {
      const found = kept.get(project.projectId);
      return found instanceof Promise
        ? found.then((known) => scopeWith(project, known))
        : scopeWith(project, found);
    },
    forget: () => kept.clear(),
  };
}

type Kept = Pick<HistoryScope, 'retainedFrom' | 'excludedDimensions'>;

async function readKept(db: Db, projectId: string): Promise<Kept> {
  const day = await shownFromDayOf(db, projectId);
  const excludedDimensions = (await readExcludedDimensions(db, [projectId])).get(projectId) ?? [];
  return { retainedFrom: day * DAY_S, excludedDimensions: excludedDimensions.map(({ name }) => name) };
}

function scopeWith({ tenantId, projectId, projectNo, storage }: StorageScope, kept: Kept): HistoryScope {
  return { tenantId, projectId, projectNo, storage, ...kept };
}
