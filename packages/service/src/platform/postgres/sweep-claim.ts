import { sql } from 'kysely';
import type { Db } from './connect.js';

/** A table whose one row says when its sweep is due. */
type SweepTable = 'retention_sweep' | 'event_id_compaction';

export interface SweepClaim {
  readonly nowMs: number;
  /** No other process starts the sweep before. */
  readonly untilMs: number;
  /** Usual time between two sweeps. */
  readonly intervalMs: number;
}

/**
 * Claims a sweep if it is due. One that is due later than two intervals from now was planned by a clock that was ahead:
 * it is due now.
 */
export async function claimSweep(
  db: Db,
  table: SweepTable,
  { nowMs, untilMs, intervalMs }: SweepClaim,
): Promise<boolean> {
  const dueMsMax = nowMs + 2 * intervalMs;
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set due_at_ms = ${untilMs} where due_at_ms <= ${nowMs} or due_at_ms > ${dueMsMax}
  `.execute(db);
  return numAffectedRows === 1n;
}
