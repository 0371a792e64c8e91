import { type RawBuilder, sql } from 'kysely';
import { type Db, shareLockUntilCommit, type Tx } from '../../platform/postgres/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';
import { tenantTables, UNCHECKED_TABLES } from './tables.js';

/**
 * The state of a moving tenant in one cell:
 * - Source: `copying` (the tenant works as before), `draining` (new events are refused, and rating goes on), `frozen`
 *   (nothing is written), `moved` (another cell has the tenant).
 * - Target: `arriving` (nobody sees the tenant here).
 * - Either: `leaving` (its rows here are being deleted).
 */
export type MoveState = 'copying' | 'draining' | 'frozen' | 'moved' | 'arriving' | 'leaving';

export interface TenantMove {
  readonly moveId: string;
  readonly state: MoveState;
  /** The time at which it got the state; Unix milliseconds. */
  readonly changedAtMs: number;
}

/** The numbers of a tenant's segments that are not rated, and of its batches that are not in ClickHouse. */
export interface Unfinished {
  readonly segments: number;
  readonly batches: number;
}

export async function findMove(db: Db, tenantId: string): Promise<TenantMove | undefined> {
  const { rows } = await sql<TenantMove>`
    select move_id as "moveId", state, changed_at_ms as "changedAtMs" from tenant_moves where tenant_id = ${tenantId}
  `.execute(db);
  return rows[0];
}

/** Returns the tenants that are moving here, for the process that accepts requests. */
export async function listMoves(db: Db): Promise<{ tenantId: string; state: MoveState }[]> {
  const { rows } = await sql<{ tenantId: string; state: MoveState }>`
    select tenant_id as "tenantId", state from tenant_moves
  `.execute(db);
  return rows;
}

/** Creates the row of a move; returns false when the tenant has a row already. */
export async function insertMove(
  db: Db,
  tenantId: string,
  { moveId, state }: Pick<TenantMove, 'moveId' | 'state'>,
  nowMs: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into tenant_moves (tenant_id, move_id, state, changed_at_ms)
    values (${tenantId}, ${moveId}, ${state}, ${nowMs}) on conflict do nothing
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Changes the state of a move, if it is one of the given states; returns false if it is not. */
export async function changeState(
  db: Db,
  tenantId: string,
  moveId: string,
  from: readonly MoveState[],
  to: MoveState,
  nowMs: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update tenant_moves set state = ${to}, changed_at_ms = ${nowMs}
    where tenant_id = ${tenantId} and move_id = ${moveId} and state = any(${from}::text[])
  `.execute(db);
  return numAffectedRows === 1n;
}

/** Lets a tenant drain again that was frozen at that time, and not since. */
export async function undoFreeze(
  db: Db,
  tenantId: string,
  moveId: string,
  frozenAtMs: number,
): Promise<void> {
  await sql`
    update tenant_moves set state = 'draining'
    where tenant_id = ${tenantId} and move_id = ${moveId} and state = 'frozen' and changed_at_ms = ${frozenAtMs}
  `.execute(db);
}

/** Ends a move, if its state is one of the given ones: the tenant is served here as before, or is unknown. */
export async function deleteMove(
  db: Db,
  tenantId: string,
  moveId: string,
  from: readonly MoveState[],
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from tenant_moves
    where tenant_id = ${tenantId} and move_id = ${moveId} and state = any(${from}::text[])
  `.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Lets a transaction write the rows of a moving tenant, if the state of the move is one of the given ones. The state
 * then cannot change until the transaction ends. Returns false if the move has another state.
 */
export async function writeAsMove(
  tx: Tx,
  tenantId: string,
  moveId: string,
  states: readonly MoveState[],
): Promise<boolean> {
  const { rows } = await sql`
    select set_config('tollgate.moving', tenant_id, true) from tenant_moves
    where tenant_id = ${tenantId} and move_id = ${moveId} and state = any(${states}::text[]) for share
  `.execute(tx);
  return rows.length > 0;
}

/**
 * Returns the transactions that may still write after the state was changed, because they began to write before: those
 * that have a write lock on a checked table. A statement takes this lock before the snapshot by which its triggers
 * check, so transactions that take the lock later see the new state.
 */
export async function earlierWriters(db: Db): Promise<string[]> {
  const checked = tenantTables().filter((name) => UNCHECKED_TABLES[name] === undefined);
  const tables = [...checked, 'segments'];
  const { rows } = await sql<{ transaction: string }>`
    select distinct virtualtransaction as transaction from pg_locks
    where locktype = 'relation' and relation = any(${tables}::text[]::regclass[]) and mode = 'RowExclusiveLock'
      and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()
  `.execute(db);
  return rows.map(({ transaction }) => transaction);
}

/** Returns how many of the transactions are still open. */
export async function countOpen(db: Db, transactions: readonly string[]): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*) as open from pg_locks
    where locktype = 'virtualxid' and virtualxid = any(${transactions}::text[])
  `.execute(db);
  return rows[0]?.open ?? 0;
}

/** Returns the condition that a row with the ids of several projects names one of the tenant. */
function isOfTenant(tenantId: string): RawBuilder<boolean> {
  return sql`project_ids && array(select id from projects where tenant_id = ${tenantId})`;
}

/** Counts a tenant's unfinished segments and batches. Segments of a batch in progress are still in the queue. */
export async function countUnfinished(db: Db, tenantId: string): Promise<Unfinished> {
  const { rows } = await sql<Unfinished>`
    select (select count(*) from segments where ${isOfTenant(tenantId)}) as segments,
      (select count(*) from usage_batches where ${isOfTenant(tenantId)}) as batches
  `.execute(db);
  return rows[0] ?? { segments: 0, batches: 0 };
}

/** Returns how many segments with events of a tenant were set aside because they cannot be read. */
export async function countUnreadable(db: Db, tenantId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from unreadable_segments where ${isOfTenant(tenantId)}
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** Upper bound of the difference between the clocks of the processes. */
const CLOCKS_DIFFER_MS_MAX = 10_000;

/**
 * Returns a time (Unix milliseconds) for which all events of a tenant that were rated earlier are in ClickHouse. Events
 * are rated after they were queued, so the time is that of the oldest event that is queued, or is rated and not yet in
 * ClickHouse. One statement reads both.
 */
export async function readSettledBeforeMs(db: Db, tenantId: string): Promise<number> {
  const { rows } = await sql<{ at: number }>`
    select floor(least(
      extract(epoch from clock_timestamp()) * 1000,
      (select min(received_at_ms) from segments where ${isOfTenant(tenantId)}),
      (select min(oldest_received_at_ms) from usage_batches where ${isOfTenant(tenantId)})
    ))::bigint as at
  `.execute(db);
  return (rows[0]?.at ?? 0) - CLOCKS_DIFFER_MS_MAX;
}

/** Returns the recorded progress of a copy, by step. */
export async function readSteps(db: Db, tenantId: string): Promise<Map<string, unknown>> {
  const { rows } = await sql<{ step: string; progress: unknown }>`
    select step, progress from tenant_move_steps where tenant_id = ${tenantId}
  `.execute(db);
  return new Map(rows.map(({ step, progress }) => [step, progress]));
}

/** Records how far a step has come. */
export async function writeStep(db: Db, tenantId: string, step: string, progress: object): Promise<void> {
  await sql`
    insert into tenant_move_steps (tenant_id, step, progress)
    values (${tenantId}, ${step}, ${JSON.stringify(progress)}::json)
    on conflict (tenant_id, step) do update set progress = excluded.progress
  `.execute(db);
}

/**
 * Records how far a step has come since it was read. Returns false, and records nothing, when another process has
 * recorded something since.
 */
export async function advanceStep(
  db: Db,
  tenantId: string,
  { step, from, to }: { readonly step: string; readonly from: object | undefined; readonly to: object },
): Promise<boolean> {
  const progress = JSON.stringify(to);
  const { numAffectedRows } =
    from === undefined
      ? await sql`
          insert into tenant_move_steps (tenant_id, step, progress)
          values (${tenantId}, ${step}, ${progress}::json) on conflict do nothing
        `.execute(db)
      : await sql`
          update tenant_move_steps set progress = ${progress}::json
          where tenant_id = ${tenantId} and step = ${step} and progress::text = ${JSON.stringify(from)}
        `.execute(db);
  return numAffectedRows === 1n;
}

/** Prevents a rebuild or repair of the history until `tx` ends; returns false if one is under way. */
export async function holdHistory(tx: Tx): Promise<boolean> {
  const isFree = async () => {
    const { rows } = await sql`select from projection_state where rebuild_since_ms is null`.execute(tx);
    return rows.length > 0;
  };
  if (!(await isFree())) return false;
  await shareLockUntilCommit(tx, PROJECTOR_LOCK);
  return isFree();
}
