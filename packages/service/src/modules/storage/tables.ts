import type { ProjectRef } from '../../kernel/scope.js';

/** A project, and where its usage is kept. */
export type StorageScope = Pick<ProjectRef, 'tenantId' | 'projectId' | 'projectNo' | 'storage'>;

/** Names of ClickHouse tables; each is safe to write into a statement as it is. */
export interface StorageTables {
  readonly events: string;
  readonly rollup: string;
}

export const SHARED_TABLES: StorageTables = { events: 'usage_events', rollup: 'usage_rollup' };

/**
 * Where the project's usage is: tables that many projects share, or its own, which differ from those in
 * nothing but their name.
 */
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

/** The end of the names of a project's own tables. */
export function tableSuffix(projectNo: number): string {
  if (!Number.isSafeInteger(projectNo)) throw new RangeError(`${projectNo} is not the number of a project`);
  return `_${projectNo}`;
}
