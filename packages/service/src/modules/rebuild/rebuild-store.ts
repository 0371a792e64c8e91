import { sql } from 'kysely';
import type { ClickHouse, ConfirmInsert } from '../../platform/clickhouse/index.js';
import { type Postgres, transaction, withAdvisoryLock } from '../../platform/postgres/index.js';
import { PROJECTOR_LOCK, recordGroup } from '../pipeline/index.js';

/**
 * Recorded for a new history, before its first group: so a group of the old history, which a projector that was frozen
 * may still record, is not taken for that of another installation.
 */
const NO_GROUP = 0;

/** Returns how many rows in ClickHouse the archive does not have. */
export async function unarchivedEvents({ db }: Postgres): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select unarchived_events as events from projection_state
  `.execute(db);
  return rows[0]?.events ?? 0;
}

/**
 * From now on projectors end their sessions, and wait. Returns whether they waited already, because an earlier rebuild
 * or repair was interrupted.
 */
export async function beginRebuild({ db }: Postgres, nowMs: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update projection_state set rebuild_since_ms = ${nowMs} where rebuild_since_ms is null
  `.execute(db);
  return numAffectedRows === 0n;
}

/**
 * Gives the history another name, in both stores. The caller holds the lock of the projectors.
 *
 * @returns the name of the history
 */
export async function beginHistory({
  postgres,
  clickhouse,
}: {
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouse;
}): Promise<string> {
  const historyId = await forgetGroups(postgres);
  await recordGroup(clickhouse, historyId, NO_GROUP);
  return historyId;
}

/**
 * Names a new history in PostgreSQL, and takes all waiting batches out of their groups, because no group is in the new
 * history. New tokens make sure that none of their inserts is taken for a repetition.
 */
async function forgetGroups(postgres: Postgres): Promise<string> {
  return transaction(postgres, async (tx) => {
    const { rows } = await sql<{ id: string }>`
      update projection_state set history_id = gen_random_uuid(), last_formed = 0, last_ended = 0
      returning history_id as id
    `.execute(tx);
    await sql`
      update usage_batches set insert_group = null, group_no = null, insert_token = gen_random_uuid()
    `.execute(tx);
    const [history] = rows;
    if (history === undefined) throw new Error('the state of the projection is missing');
    return history.id;
  });
}

/**
 * Runs `work` while no projector works, and no other process rebuilds or repairs. An earlier one may have been frozen
 * after it had sent an insert: that insert has ended, too.
 *
 * @param work gets a function that rejects if the connection was lost, so that another process may work
 */
export function workAlone<T>(
  { postgres, clickhouse }: { readonly postgres: Postgres; readonly clickhouse: ClickHouse },
  work: (confirm: ConfirmInsert) => Promise<T>,
): Promise<T> {
  return withAdvisoryLock(postgres, PROJECTOR_LOCK, async (holder) => {
    await clickhouse.insertsEnded();
    return work(async () => {
      await holder.query('select');
    });
  });
}

/**
 * Lets projectors go on.
 *
 * @param isComplete whether ClickHouse has no rows now that the archive lacks
 */
export async function endRebuild(
  { db }: Postgres,
  { isComplete }: { readonly isComplete: boolean },
): Promise<void> {
  await sql`
    update projection_state set rebuild_since_ms = null,
      unarchived_events = case when ${isComplete} then 0 else unarchived_events end
  `.execute(db);
}

/**
 * Returns the numbers of all projects that have tables of their own: those of `projects`, and those whose rows are in
 * the archive while their tenant is moving.
 */
export async function ownTableNumbers({ db }: Postgres): Promise<number[]> {
  const { rows } = await sql<{ no: number }>`
    select no from projects where storage = 'dedicated'
    union select dedicated_to from archived_blocks where dedicated_to is not null order by 1
  `.execute(db);
  return rows.map(({ no }) => no);
}

/** Whether a tenant is moving: its tables may exist before its projects do. */
export async function hasMovingTenant({ db }: Postgres): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select exists (select from tenant_moves) as found`.execute(
    db,
  );
  return rows[0]?.found === true;
}
