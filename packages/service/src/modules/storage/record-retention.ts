import type { Db } from '../../platform/postgres/index.js';
import { retainedFromDay } from './days.js';
import { recordBoundaries, type TenantBoundary } from './retention-store.js';

/** For how many whole days before today history is shown and kept; -1: for good. */
export interface TenantRetention {
  readonly shownDays: number;
  /** At least as long. */
  readonly keptDays: number;
}

/** Records from which day on a tenant's history is shown and kept now, without waiting for the next sweep. */
export function recordRetention(
  db: Db,
  tenantId: string,
  retention: TenantRetention,
  nowMs: number,
): Promise<void> {
  return recordBoundaries(db, [boundaryOf(tenantId, retention, nowMs)], nowMs);
}

export function boundaryOf(
  tenantId: string,
  { shownDays, keptDays }: TenantRetention,
  nowMs: number,
): TenantBoundary {
  return {
    tenantId,
    shownFromDay: retainedFromDay(nowMs, shownDays),
    keptFromDay: retainedFromDay(nowMs, keptDays),
  };
}
