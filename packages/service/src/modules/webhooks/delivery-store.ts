import type { WebhookDeliveryStatus } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';

/** A delivery with the name of its event. Times are milliseconds since the Unix epoch. */
export interface StoredDelivery {
  readonly message_id: string;
  readonly endpoint_id: string;
  readonly type: string;
  readonly status: WebhookDeliveryStatus;
  readonly attempts: number;
  readonly next_attempt_at_ms: number | null;
  readonly last_attempt_at_ms: number | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly delivered_at_ms: number | null;
  /** Time at which the message was created. */
  readonly created_at_ms: number;
}

const SHOWN = sql`d.message_id, d.endpoint_id, m.type, d.status, d.attempts, d.next_attempt_at_ms, d.last_attempt_at_ms,
  d.last_status, d.last_error, d.delivered_at_ms, m.created_at_ms`;

const FROM = sql`webhook_deliveries d
  join webhook_messages m on m.project_id = d.project_id and m.id = d.message_id`;

const ofEndpoint = (db: ProjectDb, endpointId: string) =>
  db.part`${db.isOwn('d')} and d.endpoint_id = ${endpointId}`;

/** Returns deliveries, the newest message first, and the number of all. */
export async function listDeliveries(
  db: ProjectDb,
  endpointId: string,
  { limit, offset, status }: Page & { readonly status: WebhookDeliveryStatus | undefined },
): Promise<ListPage<StoredDelivery>> {
  const found = db.part`${ofEndpoint(db, endpointId)}
    and ${status === undefined ? sql`true` : sql`d.status = ${status}`}`;
  const items = await db.rows<StoredDelivery>`
    select ${SHOWN} from ${FROM} where ${found}
    order by d.message_id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`
    select count(*) as total from webhook_deliveries d where ${found}`;
  return { items, totalCount: counted?.total ?? 0 };
}

export async function readDelivery(
  db: ProjectDb,
  endpointId: string,
  messageId: string,
): Promise<StoredDelivery | undefined> {
  return db.row<StoredDelivery>`
    select ${SHOWN} from ${FROM} where ${ofEndpoint(db, endpointId)} and d.message_id = ${messageId}`;
}

/** Returns the body of a message to the endpoint, as it is posted. */
export async function readPayload(
  db: ProjectDb,
  endpointId: string,
  messageId: string,
): Promise<string | undefined> {
  const row = await db.row<{ payload: string }>`
    select m.payload from ${FROM} where ${ofEndpoint(db, endpointId)} and d.message_id = ${messageId}`;
  return row?.payload;
}

/**
 * Deletes the oldest deliveries to an endpoint, except those that another transaction has locked. Triggers keep those
 * of a moving tenant.
 *
 * @param after a message; only deliveries of later ones are deleted
 * @returns the last message whose delivery was deleted; undefined if none was
 */
export async function deleteDeliveries(
  tx: ProjectTx,
  endpointId: string,
  { after, deliveriesMax }: { readonly after: string; readonly deliveriesMax: number },
): Promise<string | undefined> {
  const row = await tx.row<{ last: string | null }>`
    with gone as (
      delete from webhook_deliveries where (project_id, endpoint_id, message_id) in (
        select project_id, endpoint_id, message_id from webhook_deliveries d
        where ${ofEndpoint(tx, endpointId)} and message_id > ${after}
        order by message_id limit ${deliveriesMax} for update skip locked
      ) returning message_id
    )
    select max(message_id) as last from gone`;
  return row?.last ?? undefined;
}

/**
 * Cancels pending deliveries to an endpoint if it is disabled, except those that another transaction has locked.
 * Returns how many were cancelled.
 */
export async function cancelIfDisabled(
  tx: ProjectTx,
  endpointId: string,
  deliveriesMax: number,
): Promise<number> {
  return tx.change`
    update webhook_deliveries set status = 'cancelled', next_attempt_at_ms = null
    where (project_id, endpoint_id, message_id) in (
      select d.project_id, d.endpoint_id, d.message_id from webhook_deliveries d
      join webhook_endpoints e on e.project_id = d.project_id and e.id = d.endpoint_id
      where ${ofEndpoint(tx, endpointId)} and d.status = 'pending' and e.disabled_at is not null
      limit ${deliveriesMax} for update of d skip locked
    )`;
}

/** Makes a delivery due, with all its attempts again, whatever its status. Returns whether it exists. */
export async function restartDelivery(
  tx: ProjectTx,
  endpointId: string,
  messageId: string,
  nowMs: number,
): Promise<boolean> {
  const changed = await tx.change`
    update webhook_deliveries d set status = 'pending', attempts = 0, next_attempt_at_ms = ${nowMs}, delivered_at_ms = null
    where ${ofEndpoint(tx, endpointId)} and d.message_id = ${messageId}`;
  return changed === 1;
}
