import type { Clock } from '../../kernel/clock.js';
import { type Postgres, TenantTx, type Tx, transaction } from '../../platform/postgres/index.js';
import { retainedFromDay } from './days.js';
import { lockBoundaries, recordBoundary } from './retention-store.js';

/** For how many whole days before today history is shown and kept; -1 means for ever. */
export interface TenantRetention {
  readonly shownDays: number;
  /** At least `shownDays`. History that is kept and not shown is hidden until it is shown again or deleted. */
  readonly keptDays: number;
}

/** Says for how long tenants' history is shown and kept. */
export interface RetentionPolicy {
  /** Returns the current retention, read inside `tx`. */
  retentionOf(tx: Tx, tenantId: string): Promise<TenantRetention>;
}

export interface RecordRetentionDeps {
  readonly postgres: Postgres;
  readonly policy: RetentionPolicy;
  readonly clock: Clock;
}

/**
 * Records from which day on a tenant's history is shown and kept now. Calls for one tenant run one after the other, and
 * read the retention only then: a sweep that began before a purchase does not hide what the purchase shows.
 */
export function recordRetention(
  { postgres, policy, clock }: RecordRetentionDeps,
  tenantId: string,
): Promise<void> {
  return transaction(postgres, async (tx) => {
    const own = new TenantTx(tx, tenantId);
    await lockBoundaries(own);
    const { shownDays, keptDays } = await policy.retentionOf(tx, tenantId);
    const nowMs = clock.nowMs();
    const boundary = {
      shownFromDay: retainedFromDay(nowMs, shownDays),
      keptFromDay: retainedFromDay(nowMs, keptDays),
    };
    await recordBoundary(own, boundary, nowMs);
  });
}
