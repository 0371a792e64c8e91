import { sql } from 'kysely';
import type { ProjectRef } from '../../kernel/scope.js';
import type { Tx } from '../../platform/postgres/index.js';

/**
 * Locks the project against other callers of this function until the transaction ends. Writes that only refer to the
 * project go on.
 */
export async function lockProject(
  tx: Tx,
  { tenantId, projectId }: Pick<ProjectRef, 'tenantId' | 'projectId'>,
): Promise<void> {
  await sql`
    select 1 from projects where tenant_id = ${tenantId} and id = ${projectId} for no key update`.execute(tx);
}
