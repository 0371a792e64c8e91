import type { WebhookDeliveryStatus } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Page } from '../../kernel/page.js';
import type { Db, Tx } from '../../platform/postgres/index.js';
import type { WebhookOwner } from './endpoint-store.js';

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
  /** Of the message. */
  readonly created_at_ms: number;
}

const SHOWN = sql`d.message_id, d.endpoint_id, m.type, d.status, d.attempts, d.next_attempt_at_ms, d.last_attempt_at_ms,
  d.last_status, d.last_error, d.delivered_at_ms, m.created_at_ms`;

const FROM = sql`webhook_deliveries d
  join webhook_messages m on m.project_id = d.project_id and m.id = d.message_id`;

const ofEndpoint = ({ tenantId, projectId }: WebhookOwner, endpointId: string) =>
  sql`d.tenant_id = ${tenantId} and d.project_id = ${projectId} and d.endpoint_id = ${endpointId}`;

/** Newest message first, and how many there are. */
export async function listDeliveries(
  db: Db,
  owner: WebhookOwner,
  endpointId: string,
  { limit, offset, status }: Page & { readonly status: WebhookDeliveryStatus | undefined },
): Promise<{ rows: StoredDelivery[]; totalCount: number }> {
  const found = sql`${ofEndpoint(owner, endpointId)}
    and ${status === undefined ? sql`true` : sql`d.status = ${status}`}`;
  const { rows } = await sql<StoredDelivery>`
    select ${SHOWN} from ${FROM} where ${found}
    order by d.message_id desc limit ${limit} offset ${offset}`.execute(db);
  const { rows: counted } = await sql<{ total: number }>`
    select count(*) as total from webhook_deliveries d where ${found}`.execute(db);
  return { rows, totalCount: counted[0]?.total ?? 0 };
}

export async function readDelivery(
  db: Db,
  owner: WebhookOwner,
  endpointId: string,
  messageId: string,
): Promise<StoredDelivery | undefined> {
  const { rows } = await sql<StoredDelivery>`
    select ${SHOWN} from ${FROM} where ${ofEndpoint(owner, endpointId)} and d.message_id = ${messageId}`.execute(
    db,
  );
  return rows[0];
}

/** The body of a message to the endpoint, as it is posted. */
export async function readPayload(
  db: Db,
  owner: WebhookOwner,
  endpointId: string,
  messageId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ payload: string }>`
    select m.payload from ${FROM} where ${ofEndpoint(owner, endpointId)} and d.message_id = ${messageId}`.execute(
    db,
  );
  return rows[0]?.payload;
}

/** Makes a delivery due, with all its attempts before it, whatever has become of it. Answers whether there is one. */
export async function restartDelivery(
  tx: Tx,
  owner: WebhookOwner,
  endpointId: string,
  messageId: string,
  nowMs: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update webhook_deliveries d set status = 'pending', attempts = 0, next_attempt_at_ms = ${nowMs}, delivered_at_ms = null
    where ${ofEndpoint(owner, endpointId)} and d.message_id = ${messageId}`.execute(tx);
  return numAffectedRows === 1n;
}
