import { sql } from 'kysely';
import type { Tx } from '../../platform/postgres/index.js';
import type { LedgerScope } from './wallet-store.js';

/** The scope of idempotency keys. The same key may be used for different operations. */
export interface KeyScope extends LedgerScope {
  /** The operation, e.g. `credit`. */
  readonly operation: string;
}

/** The request that used a key, and its answer. */
export interface KeyUse {
  readonly key: string;
  /** SHA-256 of the request's fields. */
  readonly requestHash: Buffer;
  readonly answer: unknown;
}

/**
 * Takes keys, each once, for this transaction, until it has used or freed them. Waits for other transactions that use
 * them, in sorted order; a key whose use is rolled back is free again.
 *
 * @returns the earlier uses of the keys that were used before
 */
export async function takeKeys(
  tx: Tx,
  { tenantId, projectId, operation }: KeyScope,
  keys: readonly string[],
  createdAt: number,
): Promise<KeyUse[]> {
  const { numAffectedRows } = await sql`
    insert into idempotent_requests (tenant_id, project_id, operation, key, request_hash, answer, created_at)
    select ${tenantId}::text, ${projectId}::text, ${operation}::text, k.key, ''::bytea, 'null'::json, ${createdAt}::bigint
    from unnest(${keys}::text[]) as k (key) order by k.key collate "C"
    on conflict do nothing
  `.execute(tx);
  if (numAffectedRows === BigInt(keys.length)) return [];
  const { rows } = await sql<KeyUse>`
    select key, request_hash as "requestHash", answer from idempotent_requests
    where tenant_id = ${tenantId} and project_id = ${projectId} and operation = ${operation} and key = any(${keys})
      and request_hash <> ''
  `.execute(tx);
  return rows;
}

/** Stores the answers of requests whose keys this transaction has taken. */
export async function storeResponses(
  tx: Tx,
  { projectId, operation }: KeyScope,
  uses: readonly KeyUse[],
): Promise<void> {
  await sql`
    update idempotent_requests r set request_hash = u.request_hash, answer = u.answer
    from unnest(
      ${uses.map(({ key }) => key)}::text[], ${uses.map(({ requestHash }) => requestHash)}::bytea[],
      ${uses.map(({ answer }) => JSON.stringify(answer))}::json[]
    ) as u (key, request_hash, answer)
    where r.project_id = ${projectId} and r.operation = ${operation} and r.key = u.key
  `.execute(tx);
}

/** Frees keys that this transaction has taken and not used. */
export async function freeKeys(
  tx: Tx,
  { projectId, operation }: KeyScope,
  keys: readonly string[],
): Promise<void> {
  await sql`
    delete from idempotent_requests
    where project_id = ${projectId} and operation = ${operation} and key = any(${keys})
  `.execute(tx);
}
