import type { AuditEntry, AuditLogQuery } from '@tollgate/contract';
import { newId } from '../../kernel/id.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { Principal } from '../../kernel/principal.js';
import type { TenantDb, Tx } from '../../platform/postgres/index.js';

/** One change and who made it. Never put a secret into `change`. */
export interface AuditRecord {
  readonly tenantId: string;
  readonly projectId?: string | undefined;
  readonly principal: Principal;
  /** `<resource type>.<verb>`, e.g. `api_key.create`. */
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  /** The written values, as JSON. */
  readonly change?: unknown;
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** Records a change in the transaction that makes it, so that every change has a record, and every record a change. */
export async function audit(tx: Tx, record: AuditRecord): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      tenant_id: record.tenantId,
      id: newId('aud', { nowMs: () => record.atMs }),
      project_id: record.projectId ?? null,
      actor: record.principal.kind === 'service' ? 'service' : record.principal.keyId,
      action: record.action,
      resource_type: record.resourceType,
      resource_id: record.resourceId,
      change: record.change === undefined ? null : JSON.stringify(record.change),
      request_id: record.requestId,
      created_at: Math.floor(record.atMs / 1000),
    })
    .execute();
}

/** Filters of an audit log: columns with the wanted values. */
export type AuditFilter = Omit<AuditLogQuery, 'limit' | 'offset'>;

/** Returns a page of the matching entries of a tenant's audit log, newest first, and the number of all. */
export async function listAuditLog(
  db: TenantDb,
  page: Page,
  filter: AuditFilter,
): Promise<ListPage<AuditEntry>> {
  const ofTenant = db.selectFrom('audit_log').where((is) => is.and(filter));
  const items = await ofTenant
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await ofTenant
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items, totalCount: total };
}
