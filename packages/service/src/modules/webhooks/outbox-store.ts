import { WEBHOOK_EVERY_EVENT, type WebhookPayload } from '@tollgate/contract';
import { sql } from 'kysely';
import { compareText } from '../../kernel/compare-text.js';
import { newId } from '../../kernel/id.js';
import type { ListPage, Page } from '../../kernel/page.js';
import {
  DUE_NOW,
  isNotMoving,
  type ProjectDb,
  type ProjectTx,
  TenantTx,
  type Tx,
} from '../../platform/postgres/index.js';

/** An event, for every endpoint that subscribes to it. */
export interface WebhookEvent {
  readonly tenantId: string;
  readonly projectId: string;
  /** Name of the event: WEBHOOK_EVENT_TYPE_PATTERN. */
  readonly type: string;
  /** JSON. */
  readonly data: unknown;
  /**
   * Key of an event that happens only once: among events of one project with the same key, only the first is
   * sent.
   */
  readonly dedupeKey?: string | undefined;
  /** The subject of the event; `listMessagesAbout` finds the message by it. */
  readonly about?: string | undefined;
  /** When it happened, milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** Upper bound of the events of one statement: the texts of many more would fill the memory at once. */
const EMITTED_MAX = 1_000;

/**
 * Records events in the transaction in which they happen: they are sent when it commits, and never when it does not.
 * The message is fixed here, to the byte. Uses one statement for many events.
 */
export async function emit(tx: Tx, events: readonly WebhookEvent[]): Promise<void> {
  // The ids are in the order of the events.
  const messages = events.map((event) => ({ event, id: messageId(event.atMs), order: orderOf(event) }));
  // Ordered by their keys, so that two transactions with the same keys cannot deadlock.
  messages.sort((a, b) => compareText(a.order, b.order));
  for (let start = 0; start < messages.length; start += EMITTED_MAX)
    await insertMessages(tx, messages.slice(start, start + EMITTED_MAX));
}

async function insertMessages(
  tx: Tx,
  messages: readonly { readonly id: string; readonly event: WebhookEvent }[],
): Promise<void> {
  const events = messages.map(({ event }) => event);
  await sql`
    insert into webhook_messages (tenant_id, project_id, id, type, dedupe_key, about, payload, created_at_ms)
    select * from unnest(
      ${events.map(({ tenantId }) => tenantId)}::text[], ${events.map(({ projectId }) => projectId)}::text[],
      ${messages.map(({ id }) => id)}::text[], ${events.map(({ type }) => type)}::text[],
      ${events.map(({ dedupeKey }) => dedupeKey ?? null)}::text[], ${events.map(({ about }) => about ?? null)}::text[],
      ${events.map(payloadText)}::text[], ${events.map(({ atMs }) => atMs)}::bigint[]
    )
    on conflict (project_id, dedupe_key) where dedupe_key is not null do nothing
  `.execute(tx);
}

/** Records an event of a tenant, once for each of its projects that has an enabled endpoint; otherwise as `emit`. */
export async function emitToTenant(tx: Tx, event: Omit<WebhookEvent, 'projectId'>): Promise<void> {
  const own = new TenantTx(tx, event.tenantId);
  const rows = await own.rows<{ projectId: string }>`
    select distinct project_id as "projectId" from webhook_endpoints where ${own.isOwn()} and disabled_at is null`;
  await emit(
    tx,
    rows.map(({ projectId }) => ({ ...event, projectId })),
  );
}

/** Records an event for one endpoint only, whatever its event types. Returns the message's id. */
export async function emitTo(
  tx: ProjectTx,
  endpointId: string,
  event: Pick<WebhookEvent, 'type' | 'data' | 'atMs'>,
): Promise<string> {
  const { type, atMs } = event;
  const id = messageId(atMs);
  const payload = payloadText(event);
  await tx
    .insert('webhook_messages', {
      id,
      type,
      dedupe_key: null,
      payload,
      created_at_ms: atMs,
      fanned_out_at_ms: atMs,
    })
    .execute();
  await tx
    .insert('webhook_deliveries', {
      endpoint_id: endpointId,
      message_id: id,
      status: 'pending',
      next_attempt_at_ms: atMs,
      created_at_ms: atMs,
    })
    .execute();
  return id;
}

/** The result of writing deliveries. */
export interface FannedOut {
  readonly messages: number;
  /** Whether a tenant may have more messages that wait. */
  readonly isMore: boolean;
}

/**
 * Writes the deliveries of waiting messages: one for each enabled endpoint of the project that subscribes to the event.
 * Each tenant with waiting messages gives an equal share, its oldest ones, so that none waits for another's backlog.
 * The walk over these tenants jumps from one to the next in the index. Other processes may work on other messages at
 * the same time.
 *
 * The endpoints are locked until the commit, so that an endpoint gets no delivery after it was disabled. Messages for
 * an endpoint that another transaction changes wait until it ends, but not those for others.
 */
export async function fanOut(tx: Tx, messagesMax: number, nowMs: number): Promise<FannedOut> {
  const { rows } = await sql<{ tenant_id: string; share: number }>`
    with recursive tenants as (
      (select tenant_id from webhook_messages where fanned_out_at_ms is null order by tenant_id limit 1)
      union all
      select next.* from tenants t cross join lateral (
        select tenant_id from webhook_messages where fanned_out_at_ms is null and tenant_id > t.tenant_id
        order by tenant_id limit 1
      ) next
    ), mixed as materialized (
      select tenant_id, greatest(${messagesMax} / count(*) over (), 1)::integer as share from tenants
      where ${isNotMoving('tenant_id')} order by random()
    ), waiting as (
      select m.*, x.share from mixed x cross join lateral (
        select tenant_id, project_id, id, type from webhook_messages
        where fanned_out_at_ms is null and tenant_id = x.tenant_id
        order by created_at_ms limit x.share for update skip locked
      ) m limit ${messagesMax}
    ), held as materialized (
      select e.project_id, e.id, e.event_types
      from (select distinct tenant_id, project_id from waiting) w
      join webhook_endpoints e on e.tenant_id = w.tenant_id and e.project_id = w.project_id
      where e.disabled_at is null
      for share of e skip locked
    ), ready as materialized (
      select m.* from waiting m where not exists (
        select from webhook_endpoints e
        where e.tenant_id = m.tenant_id and e.project_id = m.project_id and e.disabled_at is null
          and e.event_types && array[m.type, ${WEBHOOK_EVERY_EVENT}]
          and not exists (select from held h where h.project_id = e.project_id and h.id = e.id)
      )
    ), written as (
      insert into webhook_deliveries
        (tenant_id, project_id, endpoint_id, message_id, status, next_attempt_at_ms, created_at_ms)
      select m.tenant_id, m.project_id, h.id, m.id, 'pending', ${nowMs}, ${nowMs}
      from ready m join held h on h.project_id = m.project_id
      where h.event_types && array[m.type, ${WEBHOOK_EVERY_EVENT}]
    )
    update webhook_messages m set fanned_out_at_ms = ${nowMs}
    from ready r where m.project_id = r.project_id and m.id = r.id
    returning r.tenant_id, r.share
  `.execute(tx);
  const counts = new Map<string, number>();
  for (const { tenant_id } of rows) counts.set(tenant_id, (counts.get(tenant_id) ?? 0) + 1);
  const isMore = rows.some(({ tenant_id, share }) => counts.get(tenant_id) === share);
  return { messages: rows.length, isMore };
}

/** Finds a row when a message waits for its deliveries to be written. */
export const waitingMessage = sql<number>`
  select ${DUE_NOW} from webhook_messages where fanned_out_at_ms is null and ${isNotMoving('tenant_id')}
  order by created_at_ms limit 1`;

/** Returns the indexes of the events that were sent with their key, as long as messages are kept. */
export async function eventsSent(
  tx: Tx,
  events: readonly Pick<Required<WebhookEvent>, 'tenantId' | 'projectId' | 'dedupeKey'>[],
): Promise<ReadonlySet<number>> {
  if (events.length === 0) return new Set();
  const { rows } = await sql<{ position: number }>`
    select k.position::integer
    from unnest(
      ${events.map(({ tenantId }) => tenantId)}::text[], ${events.map(({ projectId }) => projectId)}::text[],
      ${events.map(({ dedupeKey }) => dedupeKey ?? null)}::text[]
    ) with ordinality as k (tenant_id, project_id, dedupe_key, position)
    join webhook_messages m on m.tenant_id = k.tenant_id and m.project_id = k.project_id
      and m.dedupe_key = k.dedupe_key
  `.execute(tx);
  return new Set(rows.map(({ position }) => position - 1));
}

/** A message as it was fixed when it happened. */
export interface StoredMessage {
  readonly id: string;
  readonly type: string;
  /** JSON text of a WebhookPayload. */
  readonly payload: string;
  readonly created_at_ms: number;
}

/** Lists the messages about a subject, newest first, and their number, as long as messages are kept. */
export async function listMessagesAbout(
  db: ProjectDb,
  about: string,
  { limit, offset }: Page,
): Promise<ListPage<StoredMessage>> {
  const found = db.part`from webhook_messages where ${db.isOwn()} and about = ${about}`;
  const items = await db.rows<StoredMessage>`
    select id, type, payload, created_at_ms ${found} order by id desc limit ${limit} offset ${offset}`;
  const counted = await db.row<{ total: number }>`select count(*) as total ${found}`;
  return { items, totalCount: counted?.total ?? 0 };
}

/**
 * Deletes messages that were created before a time, with their deliveries; returns how many. Those of moving tenants
 * stay, because they are copied.
 */
export async function deleteMessages(tx: Tx, createdBeforeMs: number, messagesMax: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_messages where (project_id, id) in (
      select project_id, id from webhook_messages
      where created_at_ms < ${createdBeforeMs} and ${isNotMoving('tenant_id')} order by created_at_ms limit ${messagesMax} for update skip locked
    )`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Ordered by time, so that an endpoint's deliveries are listed in the order of what happened. */
function messageId(atMs: number): string {
  return newId('msg', { nowMs: () => atMs });
}

function payloadText({ type, atMs, data }: Pick<WebhookEvent, 'type' | 'data' | 'atMs'>): string {
  const payload: WebhookPayload = { type, timestamp: new Date(atMs).toISOString(), data };
  return JSON.stringify(payload);
}

const orderOf = ({ projectId, dedupeKey }: WebhookEvent) => `${projectId}\n${dedupeKey ?? ''}`;
