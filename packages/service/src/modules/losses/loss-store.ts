import type { LossKind } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/postgres/index.js';

/** The part of a project in a lost object. */
export interface LostPart {
  readonly tenantId: string;
  readonly projectId: string;
  /** Undefined if only the number of the whole object is known. */
  readonly eventCount: number | undefined;
  /** Days since 1970; undefined if they are not known, and for received events. */
  readonly firstDay: number | undefined;
  readonly lastDay: number | undefined;
}

/** An object to which a row refers, and whose bytes are lost. */
export interface Lost {
  readonly kind: LossKind;
  /** The number of the segment, the batch or the block. */
  readonly number: number;
  readonly objectKey: string;
  /** Events, or rows of events, of all projects. */
  readonly eventCount: number;
  /** When the oldest event arrived; undefined for the archive. */
  readonly receivedAtMs: number | undefined;
  readonly parts: readonly LostPart[];
}

/** A recorded loss of a project. */
export interface KnownLoss extends LostPart {
  readonly kind: LossKind;
  readonly number: number;
  readonly objectKey: string;
  readonly eventCount: number;
  readonly givenUpAtMs: number;
  readonly reason: string;
}

/** Records a loss for each of its projects. */
export async function insertLoss(
  tx: Tx,
  { kind, number, objectKey, eventCount, receivedAtMs, parts }: Lost,
  { atMs, reason }: { readonly atMs: number; readonly reason: string },
): Promise<void> {
  for (const part of parts) {
    const { tenantId, projectId, firstDay, lastDay } = part;
    await sql`
      insert into usage_losses (tenant_id, project_id, kind, number, object_key, event_count, first_day, last_day,
        received_at_ms, given_up_at_ms, reason)
      values (${tenantId}, ${projectId}, ${kind}, ${number}, ${objectKey}, ${part.eventCount ?? eventCount},
        ${firstDay ?? null}, ${lastDay ?? null}, ${receivedAtMs ?? null}, ${atMs}, ${reason})
    `.execute(tx);
  }
}

/** Returns all losses that were given up, the newest first. */
export async function readLosses(db: Db): Promise<KnownLoss[]> {
  const { rows } = await sql<KnownLoss>`
    select tenant_id as "tenantId", project_id as "projectId", kind, number, object_key as "objectKey",
      event_count as "eventCount", first_day as "firstDay", last_day as "lastDay", given_up_at_ms as "givenUpAtMs",
      reason
    from usage_losses order by given_up_at_ms desc, project_id, kind, number
  `.execute(db);
  return rows.map((row) => ({
    ...row,
    firstDay: row.firstDay ?? undefined,
    lastDay: row.lastDay ?? undefined,
  }));
}

/** Returns the tenants of projects; those of projects that are not here are left out. */
export async function tenantsOf(db: Db, projectIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ projectId: string; tenantId: string }>`
    select id as "projectId", tenant_id as "tenantId" from projects where id = any(${projectIds}::text[])
  `.execute(db);
  return new Map(rows.map(({ projectId, tenantId }) => [projectId, tenantId]));
}
