import type { AuditEntry, AuditLogQuery } from '@tollgate/contract';
import { newId } from '../../kernel/id.js';
import type { Page } from '../../kernel/page.js';
import type { Principal } from '../../kernel/principal.js';
import type { Postgres, Tx } from '../../platform/postgres/index.js';

/** One change that somebody made. Never put a secret into `change`. */
export interface AuditRecord {
  readonly tenantId: string;
  readonly projectId?: string | undefined;
  readonly principal: Principal;
  /** `<resource type>.<verb>`, e.g. `api_key.create`. */
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  /** What was written, as JSON. */
  readonly change?: unknown;
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** Records a change in the transaction that makes it: there is no change without its record, and none besides. */
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

/** What a tenant's log can be narrowed by: columns, each with the value that is wanted. */
export type AuditFilter = Omit<AuditLogQuery, 'limit' | 'offset'>;

/** A page of what fits in a tenant's audit log, newest first, and how much of it there is. */
export async function listAuditLog(
  { db }: Pick<Postgres, 'db'>,
  tenantId: string,
  page: Page,
  filter: AuditFilter,
): Promise<{ entries: AuditEntry[]; total: number }> {
  const ofTenant = db.selectFrom('audit_log').where((is) => is.and({ tenant_id: tenantId, ...filter }));
  const entries = await ofTenant
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await ofTenant
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { entries, total };
}
