import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';

/** The request that used a key, and its answer. */
export interface KeyUse {
  readonly key: string;
  /** SHA-256 of the request's fields. */
  readonly requestHash: Buffer;
  readonly answer: unknown;
}

/**
 * Takes keys, each once, for this transaction, until it has used or freed them. The same key may be used for different
 * operations. Waits for other transactions that use
 * them, in sorted order; a key whose use is rolled back is free again.
 *
 * @returns the earlier uses of the keys that were used before
 */
export async function takeKeys(
  tx: ProjectTx,
  operation: string,
  keys: readonly string[],
  createdAt: number,
): Promise<KeyUse[]> {
  const taken = await tx.change`
    insert into idempotent_requests (tenant_id, project_id, operation, key, request_hash, answer, created_at)
    select ${tx.ownValues()}, ${operation}::text, k.key, ''::bytea, 'null'::json, ${createdAt}::bigint
    from unnest(${keys}::text[]) as k (key) order by k.key collate "C"
    on conflict do nothing`;
  return taken === keys.length ? [] : readKeyUses(tx, operation, keys);
}

/** Returns the uses of keys by requests that were carried out. */
export function readKeyUses(db: ProjectDb, operation: string, keys: readonly string[]): Promise<KeyUse[]> {
  return db.rows<KeyUse>`
    select key, request_hash as "requestHash", answer from idempotent_requests
    where ${db.isOwn()} and operation = ${operation} and key = any(${keys})
      and request_hash <> ''`;
}

/** Stores the answers of requests whose keys this transaction has taken. */
export async function storeResponses(
  tx: ProjectTx,
  operation: string,
  uses: readonly KeyUse[],
): Promise<void> {
  await tx.change`
    update idempotent_requests r set request_hash = u.request_hash, answer = u.answer
    from unnest(
      ${uses.map(({ key }) => key)}::text[], ${uses.map(({ requestHash }) => requestHash)}::bytea[],
      ${uses.map(({ answer }) => JSON.stringify(answer))}::json[]
    ) as u (key, request_hash, answer)
    where ${tx.isOwn('r')} and r.operation = ${operation} and r.key = u.key`;
}

/** Frees keys that this transaction has taken and not used. */
export async function freeKeys(tx: ProjectTx, operation: string, keys: readonly string[]): Promise<void> {
  await tx.change`
    delete from idempotent_requests
    where ${tx.isOwn()} and operation = ${operation} and key = any(${keys})`;
}
