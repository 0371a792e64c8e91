import type { FastifyReply } from 'fastify';
import { DomainError } from '../../kernel/errors.js';
import { KeyCounts } from '../../kernel/key-counts.js';
import type { Principal } from '../../kernel/principal.js';
import { tenantShare } from '../../kernel/tenant-share.js';

export interface SlotLimits {
  /** The plural noun of the counted responses, for the refusal. */
  readonly what: string;
  /** For one key; the service key counts as one. */
  readonly perKeyMax: number;
  /** For all keys in this process. */
  readonly totalMax: number;
}

/** After this time a client that was refused may try again. */
const RETRY_AFTER_S = 5;

/** Bounds how many long responses are open at once: for one key, for all keys of one tenant, and in all. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #byKey = new KeyCounts();
  readonly #byTenant = new KeyCounts();
  readonly #open = new Set<AbortController>();
  #total = 0;
  #areEnded = false;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Number of taken slots. */
  get taken(): number {
    return this.#total;
  }

  /**
   * Takes a slot until the response has ended or was cut; the signal aborts then, or when `end` is called.
   * @throws DomainError 429 when the key or its tenant has the maximum, 503 when the process has
   */
  take(principal: Principal, { raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
    const release = this.#take(principal);
    const gone = new AbortController();
    this.#open.add(gone);
    const leave = () => {
      release();
      this.#open.delete(gone);
      gone.abort();
    };
    if (raw.destroyed) leave();
    else raw.once('close', leave);
    if (this.#areEnded) gone.abort();
    return gone.signal;
  }

  /** Aborts all signals, also of later callers: a shutdown does not wait for long responses. */
  end(): void {
    this.#areEnded = true;
    for (const gone of this.#open) gone.abort();
  }

  /** Takes a slot; the returned function releases it. */
  #take(principal: Principal): () => void {
    const { what, perKeyMax, totalMax } = this.#limits;
    const [key, tenant] =
      principal.kind === 'service' ? ['service', 'service'] : [principal.keyId, principal.tenantId];
    if (this.#byKey.of(key) >= perKeyMax) {
      throw new DomainError('concurrency_limit_reached', {
        message: `A key can have at most ${perKeyMax} ${what} open at once.`,
        retryAfterS: RETRY_AFTER_S,
      });
    }
    if (this.#total >= totalMax) {
      throw new DomainError('server_busy', {
        message: `The server already has the maximum number of ${what}. Try again later.`,
        retryAfterS: RETRY_AFTER_S,
      });
    }
    // A tenant can create any number of keys: all of them together must leave room for others.
    if (this.#byTenant.of(tenant) >= tenantShare(this.#total, totalMax)) {
      throw new DomainError('concurrency_limit_reached', {
        message: `The keys of the tenant already have its share of the server's ${what}. Try again later.`,
        retryAfterS: RETRY_AFTER_S,
      });
    }
    this.#add(key, tenant, 1);
    return () => this.#add(key, tenant, -1);
  }

  #add(key: string, tenant: string, count: 1 | -1): void {
    this.#byKey.add(key, count);
    this.#byTenant.add(tenant, count);
    this.#total += count;
  }
}
