import { sql } from 'kysely';
import type { Postgres } from './connect.js';

const END_MS_MAX = 5_000;

/**
 * Ends the connections of a process that was lost, and waits for their ends: then none of its statements can take
 * effect any more.
 *
 * @throws Error when one has not ended in time
 */
export async function endConnections({ db }: Pick<Postgres, 'db'>, applicationName: string): Promise<void> {
  const { rows } = await sql<{ ended: boolean }>`
    select pg_terminate_backend(pid, ${END_MS_MAX}) as ended from pg_stat_activity
    where application_name = ${applicationName} and datname = current_database() and usename = current_user
  `.execute(db);
  if (!rows.every(({ ended }) => ended)) throw new Error(`connections of ${applicationName} do not end`);
}
