import { sql } from 'kysely';
import type { Tx } from '../../platform/postgres/index.js';
import type { LedgerScope } from './wallet-store.js';

/** One use of an Idempotency-Key. */
export interface KeyUse extends LedgerScope {
  /** What is done, e.g. `credit`: the same key may be used for other operations. */
  readonly operation: string;
  readonly key: string;
  /** SHA-256 of what is asked. */
  readonly requestHash: Buffer;
}

/** What an earlier request with the same key asked, and was answered. */
export interface EarlierUse {
  readonly requestHash: Buffer;
  readonly answer: unknown;
}

/**
 * Takes a key for this transaction. Waits for another one that is using it: when that is rolled back, the key was not used.
 *
 * @returns the earlier use, or undefined when the key is ours now
 */
export async function takeKey(tx: Tx, use: KeyUse, createdAt: number): Promise<EarlierUse | undefined> {
  const { numAffectedRows } = await sql`
    insert into idempotent_requests (tenant_id, project_id, operation, key, request_hash, answer, created_at)
    values (${use.tenantId}, ${use.projectId}, ${use.operation}, ${use.key}, ${use.requestHash}, 'null', ${createdAt})
    on conflict do nothing
  `.execute(tx);
  if (numAffectedRows === 1n) return undefined;
  const { rows } = await sql<EarlierUse>`
    select request_hash as "requestHash", answer from idempotent_requests where ${isUse(use)}
  `.execute(tx);
  if (rows[0] === undefined) throw new Error('a key that is taken has no row');
  return rows[0];
}

/** Keeps the answer of the request that has taken the key. */
export async function keepAnswer(tx: Tx, use: KeyUse, answer: object): Promise<void> {
  await sql`update idempotent_requests set answer = ${JSON.stringify(answer)} where ${isUse(use)}`.execute(
    tx,
  );
}

const isUse = ({ tenantId, projectId, operation, key }: KeyUse) =>
  sql`tenant_id = ${tenantId} and project_id = ${projectId} and operation = ${operation} and key = ${key}`;
