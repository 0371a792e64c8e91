import { sql } from 'kysely';
import type { PoolClient } from 'pg';
import { countOrNone } from '../../kernel/present.js';
import type { Postgres, TenantDb, Tx } from '../../platform/postgres/index.js';
import type { Companion } from '../../platform/queue/index.js';
import { type ArrivedEvents, chargeKey, monthlyEvents, type QuotaCharge } from './admit.js';

/** Makes the events of a tenant count in a month. Repeating it changes nothing. */
export async function openQuota(db: TenantDb, monthStartS: number): Promise<void> {
  await db.change`
    insert into event_quotas (tenant_id, month_start, used) values (${db.ownValues()}, ${monthStartS}, 0)
    on conflict do nothing`;
}

/** Returns how many events of a tenant were accepted in a month, repeated ones included. */
export async function usedEvents(db: TenantDb, monthStartS: number): Promise<number> {
  const row = await db.row<{ used: number }>`
    select used from event_quotas where ${db.isOwn()} and month_start = ${monthStartS}`;
  return countOrNone(row?.used);
}

/** A row above its limit cannot be stored: then the statement fails, see `isOverQuota`. */
const COUNT_EVENTS = `insert into event_quotas (tenant_id, month_start, used, event_limit)
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (tenant_id, month_start) do update
  set used = event_quotas.used + excluded.used, event_limit = excluded.event_limit`;
const OVER_QUOTA = 'event_quotas_within_limit';

/** Returns the statement that counts events, which the queue executes with the append of their segment. */
export function countingOf(charges: readonly QuotaCharge[]): Companion {
  return {
    name: 'append-within-quota',
    text: COUNT_EVENTS,
    values: [
      charges.map(({ tenantId }) => tenantId),
      charges.map(({ monthStartS }) => monthStartS),
      charges.map(({ eventCount }) => eventCount),
      charges.map(({ eventLimit }) => eventLimit),
    ],
  };
}

/** Whether an append failed because a quota has no room for all of its events. Nothing was changed then. */
export function isOverQuota(error: unknown): boolean {
  return (error as { constraint?: string }).constraint === OVER_QUOTA;
}

/** Locks quotas, in the order of their charges, and opens those of a new month. */
const LOCK_QUOTAS = `insert into event_quotas (tenant_id, month_start, used)
  select tenant_id, month_start, 0 from unnest($1::text[], $2::bigint[]) as asked (tenant_id, month_start)
  on conflict (tenant_id, month_start) do update set used = event_quotas.used
  returning tenant_id, month_start, used`;
/** A lock without a response after this time counts as failed. */
const LOCK_TIMEOUT_MS = 10_000;

/**
 * Runs `work` in a transaction in which nobody else adds to the quotas of the charges.
 *
 * @param work called with the events used before, by `chargeKey`, and the connection of the transaction
 */
export async function withQuotasLocked<T>(
  { pool }: Pick<Postgres, 'pool'>,
  charges: readonly QuotaCharge[],
  work: (used: ReadonlyMap<string, number>, client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const values = [charges.map(({ tenantId }) => tenantId), charges.map(({ monthStartS }) => monthStartS)];
    // `query_timeout` is a field of pg's queries that its types leave out.
    const lock = { text: LOCK_QUOTAS, values, query_timeout: LOCK_TIMEOUT_MS };
    const { rows } = await client.query<{ tenant_id: string; month_start: number; used: number }>(lock);
    const used = new Map(rows.map((row) => [chargeKey(row.tenant_id, row.month_start), row.used]));
    const result = await work(used, client);
    await client.query('commit');
    return result;
  } finally {
    // A connection that is still in its transaction after an error does not return to the pool.
    client.release();
  }
}

/**
 * Adds events that a batch takes off the queue, repeated ones included, to the counts from which quotas can be
 * recounted.
 */
export async function addArrivals(tx: Tx, taken: readonly ArrivedEvents[]): Promise<void> {
  const arrivals = monthlyEvents(taken);
  if (arrivals.length === 0) return;
  await sql`
    insert into event_arrivals as a (tenant_id, month_start, event_count)
    select * from unnest(
      ${arrivals.map(({ tenantId }) => tenantId)}::text[],
      ${arrivals.map(({ monthStartS }) => monthStartS)}::bigint[],
      ${arrivals.map(({ eventCount }) => eventCount)}::bigint[])
    on conflict (tenant_id, month_start) do update set event_count = a.event_count + excluded.event_count
  `.execute(tx);
}
