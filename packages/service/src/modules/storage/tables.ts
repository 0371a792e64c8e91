import type { ProjectRef } from '../../kernel/scope.js';

/** A project, and where its usage is stored. */
export type StorageScope = Pick<ProjectRef, 'tenantId' | 'projectId' | 'projectNo' | 'storage'>;

/** Names of ClickHouse tables; each is safe in a statement without quotes. */
export interface StorageTables {
  readonly events: string;
  readonly rollup: string;
}

export const SHARED_TABLES: StorageTables = { events: 'usage_events', rollup: 'usage_rollup' };

/**
 * The view that fills the rollup with the rows of events, and those that did so beside it until they were replaced. The
 * views of a project's own tables end in its suffix.
 */
export const ROLLUP_VIEWS = [
  'usage_rollup_view',
  'usage_counter_view',
  'usage_cost_view',
  'usage_correction_view',
] as const;

/** Stands for the last day of rows whose days are not known: later than every day that a row can have. */
export const LAST_DAY_UNKNOWN = 50_000;

/** Returns the tables of the project's usage: shared ones, or its own, which differ in nothing but their names. */
export function storageTables({
  storage,
  projectNo,
}: Pick<StorageScope, 'storage' | 'projectNo'>): StorageTables {
  return storage === 'shared' ? SHARED_TABLES : dedicatedTables(projectNo);
}

function dedicatedTables(projectNo: number): StorageTables {
  const suffix = tableSuffix(projectNo);
  return { events: SHARED_TABLES.events + suffix, rollup: SHARED_TABLES.rollup + suffix };
}

/** Returns the suffix of the names of a project's own tables. */
export function tableSuffix(projectNo: number): string {
  if (!Number.isSafeInteger(projectNo)) throw new RangeError(`${projectNo} is not the number of a project`);
  return `_${projectNo}`;
}
