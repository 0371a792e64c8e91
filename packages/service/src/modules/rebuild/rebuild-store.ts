import { sql } from 'kysely';
import { type Postgres, transaction } from '../../platform/postgres/index.js';

/** Returns how many rows in ClickHouse the archive does not have. */
export async function unarchivedEvents({ db }: Postgres): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select unarchived_events as events from projection_state
  `.execute(db);
  return rows[0]?.events ?? 0;
}

/** From now on projectors end their sessions, and wait. */
export async function beginRebuild({ db }: Postgres, nowMs: number): Promise<void> {
  await sql`
    update projection_state set rebuild_since_ms = coalesce(rebuild_since_ms, ${nowMs}::bigint)
  `.execute(db);
}

/**
 * Gives the history another name, and takes all waiting batches out of their groups, because no group is in the new
 * history. New tokens make sure that none of their inserts is taken for a repetition. The caller holds the lock of the
 * projectors.
 */
export async function forgetGroups(postgres: Postgres): Promise<void> {
  await transaction(postgres, async (tx) => {
    await sql`
      update projection_state set history_id = gen_random_uuid(), last_formed = 0, last_ended = 0
    `.execute(tx);
    await sql`
      update usage_batches set insert_group = null, group_no = null, insert_token = gen_random_uuid()
    `.execute(tx);
  });
}

/** Lets projectors go on. */
export async function endRebuild({ db }: Postgres): Promise<void> {
  await sql`update projection_state set rebuild_since_ms = null, unarchived_events = 0`.execute(db);
}

/** Returns the numbers of the projects that have tables of their own. */
export async function dedicatedProjects({ db }: Postgres): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; no: number }>`
    select id, no from projects where storage = 'dedicated'
  `.execute(db);
  return new Map(rows.map(({ id, no }) => [id, no]));
}
