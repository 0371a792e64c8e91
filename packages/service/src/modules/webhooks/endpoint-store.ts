import type { WebhookDisabledReason } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Page } from '../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';

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

/** The fields of an endpoint that a tenant sets. */
export interface EndpointValues {
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly description: string | null;
}

const SHOWN = sql`id, tenant_id, project_id, url, event_types, description, previous_secret_until, disabled_at,
  disabled_reason, created_at, updated_at`;

const isEndpoint = (db: ProjectDb, id: string) => db.part`${db.isOwn()} and id = ${id}`;

export async function countEndpoints(db: ProjectDb): Promise<number> {
  const row = await db.row<{ total: number }>`
    select count(*) as total from webhook_endpoints where ${db.isOwn()}`;
  return row?.total ?? 0;
}

export async function insertEndpoint(
  tx: ProjectTx,
  endpoint: EndpointValues & { readonly id: string; readonly secret: string; readonly createdAt: number },
): Promise<StoredEndpoint> {
  const row = await tx.row<StoredEndpoint>`
    insert into webhook_endpoints
      (tenant_id, project_id, id, url, event_types, description, secret, created_at, updated_at)
    values (${tx.ownValues()}, ${endpoint.id}, ${endpoint.url}, ${endpoint.eventTypes}, ${endpoint.description},
      ${endpoint.secret}, ${endpoint.createdAt}, ${endpoint.createdAt})
    returning ${SHOWN}`;
  return row as StoredEndpoint;
}

export async function readEndpoint(db: ProjectDb, id: string): Promise<StoredEndpoint | undefined> {
  return db.row<StoredEndpoint>`
    select ${SHOWN} from webhook_endpoints where ${isEndpoint(db, id)}`;
}

/** Returns an endpoint, locked so that it is neither disabled nor deleted before the transaction ends. */
export async function holdEndpoint(tx: ProjectTx, id: string): Promise<StoredEndpoint | undefined> {
  return tx.row<StoredEndpoint>`
    select ${SHOWN} from webhook_endpoints where ${isEndpoint(tx, id)} for share`;
}

/** Returns endpoints, newest first. */
export async function listEndpoints(db: ProjectDb, { limit, offset }: Page): Promise<StoredEndpoint[]> {
  return db.rows<StoredEndpoint>`
    select ${SHOWN} from webhook_endpoints where ${db.isOwn()}
    order by id desc limit ${limit} offset ${offset}`;
}

/** Replaces the tenant's values, and enables the endpoint: its past failures are forgotten. */
export async function updateEndpoint(
  tx: ProjectTx,
  id: string,
  { url, eventTypes, description }: EndpointValues,
  updatedAt: number,
): Promise<StoredEndpoint | undefined> {
  return tx.row<StoredEndpoint>`
    update webhook_endpoints set url = ${url}, event_types = ${eventTypes}, description = ${description},
      disabled_at = null, disabled_reason = null, failing_since_ms = null, updated_at = ${updatedAt}
    where ${isEndpoint(tx, id)} returning ${SHOWN}`;
}

/** Makes the present secret the previous one; an older one does not sign any more. */
export async function rotateSecret(
  tx: ProjectTx,
  id: string,
  secret: string,
  previousUntil: number,
  updatedAt: number,
): Promise<StoredEndpoint | undefined> {
  return tx.row<StoredEndpoint>`
    update webhook_endpoints set secret = ${secret}, previous_secret = secret,
      previous_secret_until = ${previousUntil}, updated_at = ${updatedAt}
    where ${isEndpoint(tx, id)} returning ${SHOWN}`;
}

/** Deletes an endpoint with its past and pending deliveries. Returns whether it existed. */
export async function deleteEndpoint(tx: ProjectTx, id: string): Promise<boolean> {
  const changed = await tx.change`
    delete from webhook_endpoints where ${isEndpoint(tx, id)}`;
  return changed === 1;
}
