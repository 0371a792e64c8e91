import { createHash } from 'node:crypto';
import { DomainError } from '../../kernel/errors.js';
import { type Db, type Postgres, ProjectDb, ProjectTx, type Tx } from '../../platform/postgres/index.js';
import {
  findKeyUses,
  insertKeyUses,
  type KeyScope,
  type KeyUse,
  readKeyUse,
  storeResponse,
  takeKey,
} from './idempotency-store.js';

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
  { key, asked, ...scope }: OnceRequest,
  createdAt: number,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (key === undefined) return work();
  const own = new ProjectTx(tx, scope);
  const earlier = await takeKey(own, scope.operation, key, createdAt);
  if (earlier !== undefined) return answerOf<Answer>(earlier, asked);
  const answer = await work();
  await storeResponse(own, scope.operation, { key, requestHash: hashOf(asked), answer });
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
  const use = await readKeyUse(new ProjectDb(db, scope), scope.operation, key);
  return use === undefined ? undefined : answerOf<Answer>(use, asked);
}

/** Another request has used one of the keys meanwhile. Nothing was written; a new attempt finds its answer. */
export class KeysTaken extends DomainError {
  constructor() {
    super('server_busy');
  }
}

/**
 * The keys of requests that are decided together, one after the other. No lock is taken to read them: the answers are
 * written only if nobody has used a key since. Read keys after everything else that the requests depend on: a repeated
 * request is then not refused because of what its first attempt has changed.
 */
export class RequestKeys<Answer extends object> {
  readonly #earlier: ReadonlyMap<string, KeyUse>;
  readonly #kept = new Map<string, KeyUse>();

  private constructor(earlier: readonly KeyUse[]) {
    this.#earlier = new Map(earlier.map((use) => [use.key, use]));
  }

  static async read<Answer extends object>(
    db: Postgres | Tx,
    scope: KeyScope,
    requests: readonly KeyedRequest[],
  ): Promise<RequestKeys<Answer>> {
    const keys = new Set(requests.flatMap(({ key }) => key ?? []));
    return new RequestKeys<Answer>(keys.size === 0 ? [] : await findKeyUses(db, scope, [...keys]));
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

  /** The uses to write together with what the requests change. */
  get kept(): KeyUse[] {
    return [...this.#kept.values()];
  }
}

/**
 * Stores the noted answers, as the last thing that a transaction locks.
 *
 * @throws KeysTaken
 */
export async function writeKeys(
  tx: Tx,
  scope: KeyScope,
  { kept }: Pick<RequestKeys<object>, 'kept'>,
  createdAt: number,
): Promise<void> {
  if (kept.length > 0 && !(await insertKeyUses(tx, scope, kept, createdAt))) throw new KeysTaken();
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
