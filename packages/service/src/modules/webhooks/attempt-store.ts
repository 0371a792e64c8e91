import type { WebhookDisabledReason } from '@tollgate/contract';
import { sql } from 'kysely';
import { type Db, isNotMoving, type Tx } from '../../platform/postgres/index.js';
import type { DeliveryBacklog } from './dispatcher-metrics.js';

/** A delivery that only this process may attempt until its lease ends, with everything that the attempt needs. */
export interface Attempt {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly endpoint_id: string;
  readonly message_id: string;
  /** This one included. */
  readonly attempts: number;
  readonly lease_until_ms: number;
  readonly payload: string;
  readonly url: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  /** Unix seconds. */
  readonly previous_secret_until: number | null;
  readonly failing_since_ms: number | null;
}

/** The result of an attempt, without its time. */
export interface AttemptResult {
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly atMs: number;
}

export interface ClaimBounds {
  /** Upper bound of all deliveries. */
  readonly deliveriesMax: number;
  /** Upper bound of the deliveries to one endpoint. */
  readonly perEndpointMax: number;
  /** Number of deliveries that this process attempts already, by `endpointKey`. */
  readonly inHand: ReadonlyMap<string, number>;
  /** Upper bound of the deliveries of one tenant, by its id; `perTenantMax` for a tenant without an entry. */
  readonly ofTenants: ReadonlyMap<string, number>;
  readonly perTenantMax: number;
}

export function endpointKey(endpoint: Pick<Attempt, 'project_id' | 'endpoint_id'>): string {
  return `${endpoint.project_id}/${endpoint.endpoint_id}`;
}

/**
 * A recursive query: the endpoints with something pending, and when the first of it is due. The walk jumps from one
 * endpoint to the next in the index, so its time depends on their number, and not on the length of their backlogs.
 */
const PENDING = sql`pending as (
    (select tenant_id, project_id, endpoint_id, next_attempt_at_ms from webhook_deliveries where status = 'pending'
      order by project_id, endpoint_id, next_attempt_at_ms limit 1)
    union all
    select next.* from pending p cross join lateral (
      select d.tenant_id, d.project_id, d.endpoint_id, d.next_attempt_at_ms from webhook_deliveries d
      where d.status = 'pending' and (d.project_id, d.endpoint_id) > (p.project_id, p.endpoint_id)
      order by d.project_id, d.endpoint_id, d.next_attempt_at_ms limit 1
    ) next
  )`;

/**
 * Claims deliveries that are due, to enabled endpoints. Each endpoint gives a few of its oldest, and endpoints come in
 * no particular order: a long or slow backlog of one endpoint does not delay another's. The endpoints of a tenant share
 * what it may have: with many of them, some give one each.
 */
export async function claimDue(
  tx: Tx,
  { deliveriesMax, perEndpointMax, inHand, ofTenants, perTenantMax }: ClaimBounds,
  nowMs: number,
  leaseUntilMs: number,
): Promise<Attempt[]> {
  const { rows } = await sql<Attempt>`
    with recursive ${PENDING}, able as (
      select p.project_id, p.endpoint_id, ${perEndpointMax} - coalesce(h.deliveries, 0) as free,
        coalesce(t.deliveries, ${perTenantMax}) as of_tenant, count(*) over tenant as endpoints,
        row_number() over (tenant order by random()) as place
      from pending p
      join webhook_endpoints e on e.project_id = p.project_id and e.id = p.endpoint_id and e.disabled_at is null
      left join unnest(${[...inHand.keys()]}::text[], ${[...inHand.values()]}::int[]) as h (endpoint, deliveries)
        on h.endpoint = p.project_id || '/' || p.endpoint_id
      left join unnest(${[...ofTenants.keys()]}::text[], ${[...ofTenants.values()]}::int[]) as t (id, deliveries)
        on t.id = p.tenant_id
      where p.next_attempt_at_ms <= ${nowMs} and ${perEndpointMax} > coalesce(h.deliveries, 0)
        and ${isNotMoving('p.tenant_id')}
      window tenant as (partition by p.tenant_id)
    ), mixed as materialized (
      select project_id, endpoint_id, least(free, greatest(of_tenant / endpoints, 1)) as free
      from able where place <= of_tenant
      order by random()
    ), due as (
      select d.* from mixed x cross join lateral (
        select project_id, endpoint_id, message_id from webhook_deliveries
        where status = 'pending' and project_id = x.project_id and endpoint_id = x.endpoint_id
          and next_attempt_at_ms <= ${nowMs}
        order by next_attempt_at_ms limit x.free for update skip locked
      ) d limit ${deliveriesMax}
    )
    update webhook_deliveries d set attempts = d.attempts + 1, next_attempt_at_ms = ${leaseUntilMs},
      last_attempt_at_ms = ${nowMs}
    from due
      join webhook_messages m on m.project_id = due.project_id and m.id = due.message_id
      join webhook_endpoints e on e.project_id = due.project_id and e.id = due.endpoint_id
    where d.project_id = due.project_id and d.endpoint_id = due.endpoint_id and d.message_id = due.message_id
    returning d.tenant_id, d.project_id, d.endpoint_id, d.message_id, d.attempts, d.next_attempt_at_ms as lease_until_ms,
      m.payload, e.url, e.secret, e.previous_secret, e.previous_secret_until, e.failing_since_ms
  `.execute(tx);
  return rows;
}

/** A subquery: when the next attempt is due, in milliseconds. It visits each endpoint, as `claimDue` does. */
export const nextAttemptMs = sql<number | null>`with recursive ${PENDING}
  select min(next_attempt_at_ms) from pending where ${isNotMoving('tenant_id')}`;

const isAttempted = ({ tenant_id, project_id, endpoint_id, message_id }: Attempt) =>
  sql`tenant_id = ${tenant_id} and project_id = ${project_id} and endpoint_id = ${endpoint_id}
    and message_id = ${message_id} and status = 'pending'`;

const isStillLeased = (attempt: Attempt) =>
  sql`${isAttempted(attempt)} and next_attempt_at_ms = ${attempt.lease_until_ms}`;

const isEndpointOf = ({ tenant_id, project_id, endpoint_id }: Attempt) =>
  sql`tenant_id = ${tenant_id} and project_id = ${project_id} and id = ${endpoint_id}`;

/** Marks a delivery as accepted, even when the lease has ended meanwhile. */
export async function markDelivered(db: Db, attempt: Attempt, result: AttemptResult): Promise<void> {
  await sql`
    update webhook_deliveries set status = 'delivered', next_attempt_at_ms = null, delivered_at_ms = ${result.atMs},
      last_attempt_at_ms = ${result.atMs}, last_status = ${result.lastStatus}, last_error = null
    where ${isAttempted(attempt)}`.execute(db);
}

/**
 * Sets the next attempt, or gives up when there is none. Has no effect when another dispatcher has claimed the delivery
 * in the meantime.
 */
export async function markFailed(
  db: Db,
  attempt: Attempt,
  result: AttemptResult,
  nextAttemptAtMs: number | undefined,
): Promise<void> {
  await sql`
    update webhook_deliveries set status = ${nextAttemptAtMs === undefined ? 'failed' : 'pending'},
      next_attempt_at_ms = ${nextAttemptAtMs ?? null}, last_attempt_at_ms = ${result.atMs},
      last_status = ${result.lastStatus}, last_error = ${result.lastError}
    where ${isStillLeased(attempt)}`.execute(db);
}

/** Stores since when an endpoint has only failed, or that it works again. */
export async function markFailing(db: Db, attempt: Attempt, sinceMs: number | null): Promise<void> {
  await sql`
    update webhook_endpoints set failing_since_ms = ${sinceMs}
    where ${isEndpointOf(attempt)} and (failing_since_ms is null) = ${sinceMs !== null}`.execute(db);
}

/**
 * Disables an endpoint: its pending deliveries are not attempted any more, and are cancelled afterwards. Returns false
 * when it is disabled already, or has changed since the attempt: it has another URL, or accepted something.
 */
export async function disableEndpoint(
  tx: Tx,
  attempt: Attempt,
  reason: WebhookDisabledReason,
  nowS: number,
): Promise<boolean> {
  const isStillFailing =
    reason === 'failing' ? sql`failing_since_ms = ${attempt.failing_since_ms}` : sql`url = ${attempt.url}`;
  const { numAffectedRows } = await sql`
    update webhook_endpoints set disabled_at = ${nowS}, disabled_reason = ${reason}, updated_at = ${nowS}
    where ${isEndpointOf(attempt)} and disabled_at is null and ${isStillFailing}`.execute(tx);
  return numAffectedRows === 1n;
}

/**
 * Cancels pending deliveries of disabled endpoints, except those that another transaction has locked. Returns how many
 * were cancelled.
 */
export async function cancelOfDisabled(tx: Tx, deliveriesMax: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with recursive ${PENDING}, disabled as materialized (
      select e.project_id, e.id from pending p
      join webhook_endpoints e on e.project_id = p.project_id and e.id = p.endpoint_id
      where e.disabled_at is not null and ${isNotMoving('e.tenant_id')}
      for share of e skip locked
    ), chosen as (
      select d.* from disabled x cross join lateral (
        select project_id, endpoint_id, message_id from webhook_deliveries
        where status = 'pending' and project_id = x.project_id and endpoint_id = x.id
        order by next_attempt_at_ms limit ${deliveriesMax} for update skip locked
      ) d limit ${deliveriesMax}
    )
    update webhook_deliveries d set status = 'cancelled', next_attempt_at_ms = null
    from chosen c
    where d.project_id = c.project_id and d.endpoint_id = c.endpoint_id and d.message_id = c.message_id
  `.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Reads the deliveries that wait in all projects, except those of moving tenants, for metrics. */
export async function readBacklog(db: Db, nowMs: number): Promise<DeliveryBacklog> {
  const { rows } = await sql<BacklogRow>`
    select w.messages, w.oldest_message_at_ms, count(d.*) as deliveries, min(d.next_attempt_at_ms) as oldest_due_at_ms
    from (
      select count(*) as messages, min(created_at_ms) as oldest_message_at_ms
      from webhook_messages where fanned_out_at_ms is null and ${isNotMoving('tenant_id')}
    ) w
    left join webhook_deliveries d on d.status = 'pending' and ${isNotMoving('d.tenant_id')}
    group by 1, 2`.execute(db);
  const [row] = rows;
  const ageMs = (sinceMs: number | null | undefined) => (sinceMs == null ? 0 : Math.max(0, nowMs - sinceMs));
  return {
    messages: row?.messages ?? 0,
    oldestMessageAgeMs: ageMs(row?.oldest_message_at_ms),
    deliveries: row?.deliveries ?? 0,
    oldestDueAgeMs: ageMs(row?.oldest_due_at_ms),
  };
}

interface BacklogRow {
  readonly messages: number;
  readonly oldest_message_at_ms: number | null;
  readonly deliveries: number;
  readonly oldest_due_at_ms: number | null;
}

/** Deletes the previous secrets of all projects that do not sign any more. */
export async function forgetPreviousSecrets(tx: Tx, nowS: number): Promise<void> {
  await sql`update webhook_endpoints set previous_secret = null, previous_secret_until = null
    where previous_secret_until <= ${nowS} and ${isNotMoving('tenant_id')}`.execute(tx);
}
