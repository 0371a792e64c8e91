import type { TenantTx } from '../../platform/postgres/index.js';

/**
 * Locks the project against other callers of this function until the transaction ends. Writes that only refer to the
 * project go on.
 */
export async function lockProject(tx: TenantTx, projectId: string): Promise<void> {
  await tx.rows`select 1 from projects where ${tx.isOwn()} and id = ${projectId} for no key update`;
}
