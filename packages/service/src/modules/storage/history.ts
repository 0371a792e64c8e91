import { DAY_S } from '../../kernel/timezone.js';
import { FlightCache } from '../../platform/flight-cache.js';
import type { Db, Postgres } from '../../platform/postgres/index.js';
import { readExcludedDimensions } from './excluded-dimension-store.js';
import { shownFromDayOf } from './retention-store.js';
import type { StorageScope } from './tables.js';

/** A project's usage as far as it is kept. */
export interface HistoryScope extends StorageScope {
  /** Usage before this moment (Unix seconds) is hidden, whether it is deleted already or not. */
  readonly retainedFrom: number;
  /** Dimensions that some rows of the rollup go without: only the events tell their values. */
  readonly excludedDimensions: readonly string[];
}

/** Tells how much of a project's history there is, and where. Nobody reads history without asking, each time. */
export interface UsageHistory {
  /** At once when it was asked lately. */
  scopeOf(project: StorageScope): HistoryScope | Promise<HistoryScope>;
  /** Clears the cache. */
  forget(): void;
}

/** Age up to which a cached value is used; deletion waits for much longer. */
export const HISTORY_FRESH_MS = 10_000;
const PROJECTS_CACHED_MAX = 20_000;

export interface UsageHistoryOptions {
  readonly postgres: Pick<Postgres, 'db'>;
  /** A clock that never goes back; for the age of what is remembered. */
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
