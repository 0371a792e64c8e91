import { CompiledQuery } from 'kysely';
import { compareText } from '../../kernel/compare-text.js';
import type { ProjectScope } from '../../kernel/scope.js';
import type { Postgres, ProjectDb, ProjectTx, Tx } from '../../platform/postgres/index.js';

/** The scope of idempotency keys. The same key may be used for different operations. */
export interface KeyScope extends ProjectScope {
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
 * Takes a key for this transaction, which is going to store its answer. The same key may be used for different
 * operations. Waits for another transaction that uses it; a key whose use is rolled back is free again.
 *
 * @returns the earlier use of the key, if it was used before
 */
export async function takeKey(
  tx: ProjectTx,
  operation: string,
  key: string,
  createdAt: number,
): Promise<KeyUse | undefined> {
  const taken = await tx.change`
    insert into idempotent_requests (tenant_id, project_id, operation, key, request_hash, answer, created_at)
    values (${tx.ownValues()}, ${operation}, ${key}, ''::bytea, 'null'::json, ${createdAt}::bigint)
    on conflict do nothing`;
  return taken === 1 ? undefined : readKeyUse(tx, operation, key);
}

/** Returns the use of a key by a request that was carried out. */
export function readKeyUse(db: ProjectDb, operation: string, key: string): Promise<KeyUse | undefined> {
  return db.row<KeyUse>`
    select key, request_hash as "requestHash", answer from idempotent_requests
    where ${db.isOwn()} and operation = ${operation} and key = ${key} and request_hash <> ''`;
}

/** Stores the answer of a request whose key this transaction has taken. */
export async function storeResponse(
  tx: ProjectTx,
  operation: string,
  { key, requestHash, answer }: KeyUse,
): Promise<void> {
  await tx.change`
    update idempotent_requests set request_hash = ${requestHash}, answer = ${JSON.stringify(answer)}::json
    where ${tx.isOwn()} and operation = ${operation} and key = ${key}`;
}

/** `limit` makes each key one look-up in the index: a plan that is kept must not depend on the size of the table. */
const FIND = {
  name: 'key-uses',
  text: `select r.key, r.request_hash as "requestHash", r.answer from unnest($4::text[]) as k (key)
    cross join lateral (
      select * from idempotent_requests r
      where r.tenant_id = $1 and r.project_id = $2 and r.operation = $3 and r.key = k.key limit 1
    ) as r
    where r.request_hash <> ''`,
};

/** Finds the uses of keys by requests that were carried out, without a lock. */
export async function findKeyUses(
  db: Postgres | Tx,
  { tenantId, projectId, operation }: KeyScope,
  keys: readonly string[],
): Promise<KeyUse[]> {
  const values = [tenantId, projectId, operation, keys];
  const { rows } =
    'pool' in db
      ? await db.pool.query<KeyUse>({ ...FIND, values })
      : await db.executeQuery<KeyUse>(CompiledQuery.raw(FIND.text, values));
  return rows;
}

/**
 * The text of an insertion of key uses. It waits for other transactions that use one of the keys.
 *
 * @param first the number of the first of its parameters, which `keyUseValues` returns
 * @param end the rest of the text: more tables, a condition, and what to do with a key that was used
 */
export function insertKeyUsesText(first: number, end: string): string {
  const [tenant, project, operation, keys, hashes, answers, createdAt] = [0, 1, 2, 3, 4, 5, 6].map(
    (at) => `$${first + at}`,
  );
  return `insert into idempotent_requests (tenant_id, project_id, operation, key, request_hash, answer, created_at)
    select ${tenant}, ${project}, ${operation}, n.key, n.request_hash, n.answer, ${createdAt}::bigint
    from unnest(${keys}::text[], ${hashes}::bytea[], ${answers}::json[]) as n (key, request_hash, answer) ${end}`;
}

const INSERT = insertKeyUsesText(1, 'on conflict do nothing');

/** Returns the seven parameters of `insertKeyUsesText`; in the order of keys, in which all transactions insert them. */
export function keyUseValues(
  { tenantId, projectId, operation }: KeyScope,
  uses: readonly KeyUse[],
  createdAt: number,
): unknown[] {
  const sorted = uses.toSorted((a, b) => compareText(a.key, b.key));
  return [
    ...[tenantId, projectId, operation],
    sorted.map(({ key }) => key),
    sorted.map(({ requestHash }) => requestHash),
    sorted.map(({ answer }) => JSON.stringify(answer)),
    createdAt,
  ];
}

/** Inserts uses of keys. Returns false if one was used before: then the transaction must be rolled back. */
export async function insertKeyUses(
  tx: Tx,
  scope: KeyScope,
  uses: readonly KeyUse[],
  createdAt: number,
): Promise<boolean> {
  const { numAffectedRows } = await tx.executeQuery(
    CompiledQuery.raw(INSERT, keyUseValues(scope, uses, createdAt)),
  );
  return numAffectedRows === BigInt(uses.length);
}
