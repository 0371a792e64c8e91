import { createHash } from 'node:crypto';
import { ApiError } from '../../platform/http/index.js';
import type { Tx } from '../../platform/postgres/index.js';
import { keepAnswer, takeKey } from './idempotency-store.js';
import type { LedgerScope } from './wallet-store.js';

/** A request that is to be done once, however often it is sent. */
export interface OnceRequest extends LedgerScope {
  readonly operation: string;
  /** The `Idempotency-Key`; without one the request is done each time. */
  readonly key: string | undefined;
  /** Everything that makes the request what it is, in one spelling. */
  readonly asked: readonly (string | number | null)[];
}

/**
 * Does `work` and keeps its answer with the key, in one transaction; a repeated request gets the answer of the first.
 *
 * @throws ApiError `idempotency_key_conflict` when the key was used for something else
 */
export async function once<Answer extends object>(
  tx: Tx,
  { operation, key, asked, tenantId, projectId }: OnceRequest,
  createdAt: number,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (key === undefined) return work();
  const requestHash = createHash('sha256').update(JSON.stringify(asked)).digest();
  const use = { tenantId, projectId, operation, key, requestHash };
  const earlier = await takeKey(tx, use, createdAt);
  if (earlier !== undefined) {
    if (!earlier.requestHash.equals(requestHash)) throw new ApiError('idempotency_key_conflict');
    return earlier.answer as Answer;
  }
  const answer = await work();
  await keepAnswer(tx, use, answer);
  return answer;
}
