import { sql } from 'kysely';
import type { Db } from '../../platform/postgres/index.js';

/** Deletes the backtests of all projects that ended and were created before this Unix second. */
export async function deleteBacktestsBefore(db: Db, createdBefore: number): Promise<void> {
  await sql`delete from backtests where created_at < ${createdBefore} and status <> 'running'`.execute(db);
}
