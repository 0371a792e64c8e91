import { sql } from 'kysely';
import type { PoolClient } from 'pg';
import { countOrNone, present } from '../../kernel/present.js';
import { lockKey, type Postgres, type TenantDb, type Tx } from '../../platform/postgres/index.js';
import type { Companion } from '../../platform/queue/index.js';
import { type ArrivedEvents, chargeKey, monthlyEvents, type QuotaCharge } from './admit.js';
import type { Prepayment, QuotaCounter } from './prepaid.js';

/** Makes the events of a tenant count in a month. Repeating it changes nothing. */
export async function openQuota(db: TenantDb, monthStartS: number): Promise<void> {
  await db.change`
    insert into event_quotas (tenant_id, month_start, used) values (${db.ownValues()}, ${monthStartS}, 0)
    on conflict do nothing`;
}

/** Returns how many events of a tenant were accepted in a month, repeated ones included. */
export async function usedEvents(db: TenantDb, monthStartS: number): Promise<number> {
  const row = await db.row<{ used: number }>`
    select sum(used)::bigint as used from (
      select used from event_quotas where ${db.isOwn()} and month_start = ${monthStartS}
      union all
      select used from event_quota_counters where ${db.isOwn()} and month_start = ${monthStartS}
    ) counted`;
  return countOrNone(row?.used ?? undefined);
}

/**
 * Returns the number of the counters of a process that starts: each process gets the next one, and after 64 they begin
 * again. Two processes have the same number only if one of them outlives 64 later starts; they then wait for each
 * other's commits, and stay exact.
 */
export async function takeCounterNo({ pool }: Pick<Postgres, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ number: number }>(
    `select nextval('event_quota_counter_numbers') as number`,
  );
  return present(rows[0], 'the number of counters').number;
}

/**
 * Counts in a process's own counters. A counter never has less than 0 prepaid events, so the statement fails if the
 * counter has prepaid too few (see `isOverQuota`), or under another limit, or if its tenant is moving to another cell.
 * It also fails if the counter is not open. The arrays are read by subscript. With `unnest`, PostgreSQL would plan
 * every execution again, because it estimates the number of rows by the values. The states are those of the function
 * `is_moving`, which would take longer.
 */
const COUNT_EVENTS = `insert into event_quota_counters as counter
  (tenant_id, month_start, counter_no, used, prepaid, event_limit)
  select ($1::text[])[i], ($2::bigint[])[i], $5::smallint, ($3::bigint[])[i], 0, ($4::bigint[])[i]
  from generate_subscripts($1::text[], 1) i
  on conflict (tenant_id, month_start, counter_no) do update
  set used = counter.used + excluded.used, prepaid = case
    when counter.event_limit is not distinct from excluded.event_limit and not exists (
      select from tenant_moves move
      where move.tenant_id = counter.tenant_id and move.state in ('frozen', 'moved', 'arriving', 'leaving')
    ) then counter.prepaid - excluded.used
    else -1
  end`;
const OVER_QUOTA = 'event_quota_counters_within_prepaid';

/** Returns the statement that counts events, which the queue executes with the append of their segment. */
export function countingOf(charges: readonly QuotaCharge[], counterNo: number): Companion {
  const events = charges.map(({ eventCount }) => eventCount);
  const limits = charges.map(({ eventLimit }) => eventLimit);
  const values = [...keysOf(charges), events, limits, counterNo];
  return { name: 'append-within-quota', text: COUNT_EVENTS, values };
}

/**
 * Returns whether an append failed, and changed nothing, because a counter cannot spend its events. If the tenant is
 * moving, the attempt to prepay fails with the reason.
 */
export function isOverQuota(error: unknown): boolean {
  return (error as { constraint?: string }).constraint === OVER_QUOTA;
}

/**
 * Locks the rows of quotas, in the order of their charges, and opens those of a new month. Counters are opened, and
 * what they have prepaid is raised, only under this lock.
 */
const LOCK_QUOTAS = `insert into event_quotas (tenant_id, month_start, used)
  select tenant_id, month_start, 0 from unnest($1::text[], $2::bigint[]) as asked (tenant_id, month_start)
  on conflict (tenant_id, month_start) do update set used = event_quotas.used
  returning tenant_id, month_start, 0 as counter_no, used, 0 as prepaid, null as event_limit`;
/** A lock without a response after this time counts as failed. */
const LOCK_TIMEOUT_MS = 10_000;
/**
 * The server ends a transaction that does nothing for this time while it has quotas locked: its process hangs, and
 * other processes cannot prepay for the same tenants.
 */
const IDLE_WITH_LOCKS_MS_MAX = 5_000;

interface QuotaKey {
  readonly tenantId: string;
  readonly monthStartS: number;
}

interface CounterRow {
  readonly tenant_id: string;
  readonly month_start: number;
  readonly counter_no: number;
  readonly used: number;
  readonly prepaid: number;
  readonly event_limit: number | null;
}

/**
 * Runs `work` in a transaction in which no other process opens counters of these quotas or prepays events for them.
 * Every such transaction locks the quotas first, and then counters by a separate statement, which sees everything that
 * others did under the lock.
 *
 * @param work called with the connection of the transaction, and the events that the quotas themselves count
 * @param idleMsMax after which the server ends a transaction that does nothing
 */
export async function withQuotasLocked<T>(
  { pool }: Pick<Postgres, 'pool'>,
  quotas: readonly QuotaKey[],
  work: (client: PoolClient, quotas: readonly QuotaCounter[]) => Promise<T>,
  idleMsMax: number = IDLE_WITH_LOCKS_MS_MAX,
): Promise<T> {
  const client = await pool.connect();
  try {
    // One message, and so one round trip.
    await client.query(
      `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${idleMsMax}`,
    );
    const result = await work(client, await lockedCounters(client, LOCK_QUOTAS, keysOf(quotas)));
    await client.query('commit');
    return result;
  } finally {
    // A connection that is still in its transaction after an error does not return to the pool.
    client.release();
  }
}

const OPEN_COUNTERS = `insert into event_quota_counters as counter
  (tenant_id, month_start, counter_no, used, prepaid)
  select tenant_id, month_start, $3::smallint, 0, 0
  from unnest($1::text[], $2::bigint[]) as asked (tenant_id, month_start)
  on conflict (tenant_id, month_start, counter_no) do update set used = counter.used`;

/** Locks a process's own counters of locked quotas, in the order of the quotas, and opens those that are missing. */
export async function openCounters(
  client: PoolClient,
  quotas: readonly QuotaKey[],
  counterNo: number,
): Promise<void> {
  await lockedCounters(client, OPEN_COUNTERS, [...keysOf(quotas), counterNo]);
}

const READ_COUNTERS = `select tenant_id, month_start, counter_no, used, prepaid, event_limit
  from event_quota_counters counter
  where (tenant_id, month_start) in (select * from unnest($1::text[], $2::bigint[]))`;

/** Returns all counters of locked quotas; the `used` of counters that are not locked may grow meanwhile. */
export function readCounters(client: PoolClient, quotas: readonly QuotaKey[]): Promise<QuotaCounter[]> {
  return lockedCounters(client, READ_COUNTERS, keysOf(quotas));
}

/**
 * Locks all counters of some quotas, and of others only those of one number, together: in the order of appends, which
 * sort by UTF-16 code unit, the same for the ASCII letters of ids.
 */
const LOCK_COUNTERS = `select counter.tenant_id, counter.month_start, counter_no, used, prepaid, event_limit
  from unnest($1::text[], $2::bigint[], $3::smallint[]) as asked (tenant_id, month_start, only_no)
    join event_quota_counters counter on counter.tenant_id = asked.tenant_id
      and counter.month_start = asked.month_start and counter_no = coalesce(only_no, counter_no)
  order by counter.tenant_id collate "C", counter.month_start, counter_no
  for update of counter`;
const TAKE_BACK_PREPAID = `update event_quota_counters set prepaid = 0
  where (tenant_id, month_start) in (select * from unnest($1::text[], $2::bigint[])) and prepaid <> 0`;

/**
 * Locks all counters of locked quotas, and takes back what they have prepaid. Waits for the appends of all processes.
 * The own counters must not be locked yet, because two processes would wait for each other. For the same reason, the
 * own counters of the other quotas that the append concerns are locked by the same statement.
 *
 * @param others quotas whose own counters are locked, and keep what they have prepaid
 * @returns the counters of `quotas`
 */
export async function takeBackPrepaid(
  client: PoolClient,
  quotas: readonly QuotaKey[],
  others: readonly QuotaKey[],
  counterNo: number,
): Promise<QuotaCounter[]> {
  const onlyNos = [...quotas.map(() => null), ...others.map(() => counterNo)];
  const counters = await lockedCounters(client, LOCK_COUNTERS, [...keysOf([...quotas, ...others]), onlyNos]);
  await client.query(TAKE_BACK_PREPAID, keysOf(quotas));
  const keys = new Set(quotas.map(({ tenantId, monthStartS }) => chargeKey(tenantId, monthStartS)));
  return counters.filter(({ tenantId, monthStartS }) => keys.has(chargeKey(tenantId, monthStartS)));
}

const PREPAY = `insert into event_quota_counters
  (tenant_id, month_start, counter_no, used, prepaid, event_limit)
  select tenant_id, month_start, $5::smallint, 0, prepaid, event_limit
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as asked (tenant_id, month_start, prepaid, event_limit)
  on conflict (tenant_id, month_start, counter_no) do update
  set prepaid = excluded.prepaid, event_limit = excluded.event_limit`;

/** Sets what a process's own counters of locked quotas have prepaid. */
export async function prepay(
  client: PoolClient,
  prepayments: readonly Prepayment[],
  counterNo: number,
): Promise<void> {
  const prepaid = prepayments.map((prepayment) => prepayment.prepaid);
  const limits = prepayments.map(({ eventLimit }) => eventLimit);
  await client.query(PREPAY, [...keysOf(prepayments), prepaid, limits, counterNo]);
}

async function lockedCounters(
  client: PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<QuotaCounter[]> {
  // `query_timeout` is a field of pg's queries that its types leave out.
  const query = { text, values: [...values], query_timeout: LOCK_TIMEOUT_MS };
  const { rows } = await client.query<CounterRow>(query);
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    monthStartS: row.month_start,
    counterNo: row.counter_no,
    used: row.used,
    prepaid: row.prepaid,
    eventLimit: row.event_limit,
  }));
}

function keysOf(quotas: readonly QuotaKey[]): [string[], number[]] {
  return [quotas.map(({ tenantId }) => tenantId), quotas.map(({ monthStartS }) => monthStartS)];
}

/** Prefix of the names of the advisory locks by which batches share out the counters of arrivals. */
const ARRIVALS_LOCK = 'tollgate-arrivals';
const ARRIVAL_COUNTERS = 64;

/**
 * Adds events that a batch takes off the queue, repeated ones included, to the counts from which quotas can be
 * recounted. Counts are locked until the commit: a batch takes the first counters that no running batch uses, so it
 * does not wait, unless more batches run than there are counters.
 */
export async function addArrivals(tx: Tx, taken: readonly ArrivedEvents[]): Promise<void> {
  const arrivals = monthlyEvents(taken);
  if (arrivals.length === 0) return;
  await sql`
    insert into event_arrival_counters as a (tenant_id, month_start, counter_no, event_count)
    select tenant_id, month_start, coalesce((
      select number from generate_series(0, ${ARRIVAL_COUNTERS}::integer - 1) number
      where pg_try_advisory_xact_lock(${lockKey(sql`${ARRIVALS_LOCK}::text || '-' || number`)}) limit 1
    ), 0), event_count
    from unnest(
      ${arrivals.map(({ tenantId }) => tenantId)}::text[],
      ${arrivals.map(({ monthStartS }) => monthStartS)}::bigint[],
      ${arrivals.map(({ eventCount }) => eventCount)}::bigint[]) as arrived (tenant_id, month_start, event_count)
    on conflict (tenant_id, month_start, counter_no) do update set event_count = a.event_count + excluded.event_count
  `.execute(tx);
}
