import type { WebhookDisabledReason } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Page } from '../../kernel/page.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { Db, Tx } from '../../platform/postgres/index.js';

/** Whose endpoints: no query goes without it. */
export type WebhookOwner = Pick<ProjectRef, 'tenantId' | 'projectId'>;

/** An endpoint without its secrets. Times are Unix seconds. */
export interface StoredEndpoint {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly url: string;
  readonly event_types: string[];
  readonly description: string | null;
  readonly previous_secret_until: number | null;
  readonly disabled_at: number | null;
  readonly disabled_reason: WebhookDisabledReason | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** What a tenant says of an endpoint. */
export interface EndpointValues {
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly description: string | null;
}

const SHOWN = sql`id, tenant_id, project_id, url, event_types, description, previous_secret_until, disabled_at,
  disabled_reason, created_at, updated_at`;

const within = ({ tenantId, projectId }: WebhookOwner) =>
  sql`tenant_id = ${tenantId} and project_id = ${projectId}`;

const isEndpoint = (owner: WebhookOwner, id: string) => sql`${within(owner)} and id = ${id}`;

export async function countEndpoints(db: Db, owner: WebhookOwner): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from webhook_endpoints where ${within(owner)}`.execute(db);
  return rows[0]?.total ?? 0;
}

export async function insertEndpoint(
  tx: Tx,
  { tenantId, projectId }: WebhookOwner,
  endpoint: EndpointValues & { readonly id: string; readonly secret: string; readonly createdAt: number },
): Promise<StoredEndpoint> {
  const { rows } = await sql<StoredEndpoint>`
    insert into webhook_endpoints
      (tenant_id, project_id, id, url, event_types, description, secret, created_at, updated_at)
    values (${tenantId}, ${projectId}, ${endpoint.id}, ${endpoint.url}, ${endpoint.eventTypes}, ${endpoint.description},
      ${endpoint.secret}, ${endpoint.createdAt}, ${endpoint.createdAt})
    returning ${SHOWN}`.execute(tx);
  return rows[0] as StoredEndpoint;
}

export async function readEndpoint(
  db: Db,
  owner: WebhookOwner,
  id: string,
): Promise<StoredEndpoint | undefined> {
  const { rows } = await sql<StoredEndpoint>`
    select ${SHOWN} from webhook_endpoints where ${isEndpoint(owner, id)}`.execute(db);
  return rows[0];
}

/** An endpoint that is neither disabled nor deleted before the transaction ends. */
export async function holdEndpoint(
  tx: Tx,
  owner: WebhookOwner,
  id: string,
): Promise<StoredEndpoint | undefined> {
  const { rows } = await sql<StoredEndpoint>`
    select ${SHOWN} from webhook_endpoints where ${isEndpoint(owner, id)} for share`.execute(tx);
  return rows[0];
}

/** Newest first. */
export async function listEndpoints(
  db: Db,
  owner: WebhookOwner,
  { limit, offset }: Page,
): Promise<StoredEndpoint[]> {
  const { rows } = await sql<StoredEndpoint>`
    select ${SHOWN} from webhook_endpoints where ${within(owner)}
    order by id desc limit ${limit} offset ${offset}`.execute(db);
  return rows;
}

/** Replaces what the tenant says, and enables the endpoint: its past failures are forgotten. */
export async function updateEndpoint(
  tx: Tx,
  owner: WebhookOwner,
  id: string,
  { url, eventTypes, description }: EndpointValues,
  updatedAt: number,
): Promise<StoredEndpoint | undefined> {
  const { rows } = await sql<StoredEndpoint>`
    update webhook_endpoints set url = ${url}, event_types = ${eventTypes}, description = ${description},
      disabled_at = null, disabled_reason = null, failing_since_ms = null, updated_at = ${updatedAt}
    where ${isEndpoint(owner, id)} returning ${SHOWN}`.execute(tx);
  return rows[0];
}

/** The present secret becomes the previous one; one that was that already signs no more. */
export async function rotateSecret(
  tx: Tx,
  owner: WebhookOwner,
  id: string,
  secret: string,
  previousUntil: number,
  updatedAt: number,
): Promise<StoredEndpoint | undefined> {
  const { rows } = await sql<StoredEndpoint>`
    update webhook_endpoints set secret = ${secret}, previous_secret = secret,
      previous_secret_until = ${previousUntil}, updated_at = ${updatedAt}
    where ${isEndpoint(owner, id)} returning ${SHOWN}`.execute(tx);
  return rows[0];
}

/** Deletes an endpoint and all that was to be, or was, delivered to it. Answers whether there was one. */
export async function deleteEndpoint(tx: Tx, owner: WebhookOwner, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from webhook_endpoints where ${isEndpoint(owner, id)}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Forgets, of every project, the previous secrets that sign no more. */
export async function forgetPreviousSecrets(tx: Tx, nowS: number): Promise<void> {
  await sql`update webhook_endpoints set previous_secret = null, previous_secret_until = null
    where previous_secret_until <= ${nowS}`.execute(tx);
}
