import { createHash } from 'node:crypto';
import { DomainError } from '../../kernel/errors.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { type Db, ProjectDb, ProjectTx, type Tx } from '../../platform/postgres/index.js';
import { freeKeys, type KeyUse, readKeyUses, storeResponses, takeKeys } from './idempotency-store.js';

/** The scope of idempotency keys. The same key may be used for different operations. */
export interface KeyScope extends ProjectScope {
  /** The operation, e.g. `credit`. */
  readonly operation: string;
}

/** A request that is carried out once, however often it is sent. */
export interface OnceRequest extends KeyScope, KeyedRequest {}

export interface KeyedRequest {
  /** The `Idempotency-Key`; without one the request is carried out each time. */
  readonly key: string | undefined;
  /** All fields that make two requests the same request, each in one spelling. */
  readonly asked: readonly (string | number | null)[];
}

/**
 * Runs `work` and stores its answer with the key, in one transaction; a repeated request gets the stored answer.
 *
 * @throws DomainError `idempotency_key_conflict` when the key was used for something else
 */
export async function once<Answer extends object>(
  tx: Tx,
  request: OnceRequest,
  createdAt: number,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const keys = await RequestKeys.take<Answer>(tx, request, [request], createdAt);
  const earlier = keys.answerTo(request);
  if (earlier !== undefined) return earlier;
  const answer = await work();
  keys.keep(request, answer);
  await keys.write(tx);
  return answer;
}

/**
 * Returns the answer to a request that was carried out before, so that its repetition needs no checks; they might not
 * hold any more. It waits for no other request with the same key.
 *
 * @throws DomainError `idempotency_key_conflict` when the key was used for something else
 */
export async function earlierAnswer<Answer extends object>(
  db: Db,
  { key, asked, ...scope }: OnceRequest,
): Promise<Answer | undefined> {
  if (key === undefined) return undefined;
  const [use] = await readKeyUses(new ProjectDb(db, scope), scope.operation, [key]);
  return use === undefined ? undefined : answerOf<Answer>(use, asked);
}

/** The keys of requests that one transaction carries out one after the other. */
export class RequestKeys<Answer extends object> {
  readonly #scope: KeyScope;
  readonly #earlier: ReadonlyMap<string, KeyUse>;
  readonly #taken: ReadonlySet<string>;
  readonly #kept = new Map<string, KeyUse>();

  private constructor(scope: KeyScope, keys: ReadonlySet<string>, earlier: ReadonlyMap<string, KeyUse>) {
    this.#scope = scope;
    this.#earlier = earlier;
    this.#taken = new Set([...keys].filter((key) => !earlier.has(key)));
  }

  /** Returns no keys: for requests without one. */
  static none<Answer extends object>(scope: KeyScope): RequestKeys<Answer> {
    return new RequestKeys<Answer>(scope, new Set(), new Map());
  }

  /**
   * Takes the keys for this transaction, which has not locked anything yet; waits for other transactions that use them.
   */
  static async take<Answer extends object>(
    tx: Tx,
    scope: KeyScope,
    requests: readonly KeyedRequest[],
    createdAt: number,
  ): Promise<RequestKeys<Answer>> {
    const keys = new Set(requests.flatMap(({ key }) => key ?? []));
    const earlier =
      keys.size === 0 ? [] : await takeKeys(new ProjectTx(tx, scope), scope.operation, [...keys], createdAt);
    return new RequestKeys(scope, keys, new Map(earlier.map((use) => [use.key, use])));
  }

  /**
   * Returns the earlier answer to the request, if there is one.
   *
   * @throws DomainError `idempotency_key_conflict` when the key was used for something else
   */
  answerTo({ key, asked }: KeyedRequest): Answer | undefined {
    const use = key === undefined ? undefined : (this.#kept.get(key) ?? this.#earlier.get(key));
    return use === undefined ? undefined : answerOf<Answer>(use, asked);
  }

  /** Notes the answer to a request that was not answered before. */
  keep({ key, asked }: KeyedRequest, answer: Answer): void {
    if (key !== undefined) this.#kept.set(key, { key, requestHash: hashOf(asked), answer });
  }

  /** Stores the noted answers; the other keys are free again. */
  async write(tx: Tx): Promise<void> {
    const unused = [...this.#taken].filter((key) => !this.#kept.has(key));
    const own = new ProjectTx(tx, this.#scope);
    const { operation } = this.#scope;
    if (this.#kept.size > 0) await storeResponses(own, operation, [...this.#kept.values()]);
    if (unused.length > 0) await freeKeys(own, operation, unused);
  }
}

/** @throws DomainError `idempotency_key_conflict` */
function answerOf<Answer extends object>(
  { requestHash, answer }: KeyUse,
  asked: KeyedRequest['asked'],
): Answer {
  if (!requestHash.equals(hashOf(asked))) throw new DomainError('idempotency_key_conflict');
  return answer as Answer;
}

function hashOf(asked: KeyedRequest['asked']): Buffer {
  return createHash('sha256').update(JSON.stringify(asked)).digest();
}
