import type { FastifyReply } from 'fastify';
import { ApiError } from './errors.js';
import type { Principal } from './types.js';

export interface SlotLimits {
  /** What is counted, in the plural, as the refusal names it. */
  readonly what: string;
  /** Of one key; the service key counts as one. */
  readonly perKeyMax: number;
  /** Of all keys in this process. */
  readonly totalMax: number;
}

/** After so long a client that was refused may try again. */
const RETRY_AFTER_S = 5;

/** Bounds how many long answers are open at once: of one key, and of all. */
export class Slots {
  readonly #byKey = new Map<string, number>();
  readonly #open = new Set<AbortController>();
  #total = 0;
  #areEnded = false;

  constructor(private readonly limits: SlotLimits) {}

  /** How many are taken. */
  get taken(): number {
    return this.#total;
  }

  /**
   * Takes one until the answer has ended, in whatever way; the signal aborts then, or when all are ended.
   * @throws ApiError 429 when the key has as many as it may have, 503 when the process has
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

  /** Aborts all signals, and those of whoever comes later: at a shutdown nothing is worth waiting for. */
  end(): void {
    this.#areEnded = true;
    for (const gone of this.#open) gone.abort();
  }

  /** What is returned gives it back. */
  #take(principal: Principal): () => void {
    const { what, perKeyMax, totalMax } = this.limits;
    const key = principal.kind === 'service' ? 'service' : principal.keyId;
    const ofKey = this.#byKey.get(key) ?? 0;
    if (ofKey >= perKeyMax) {
      throw new ApiError('concurrency_limit_reached', {
        message: `A key may have ${perKeyMax} ${what} at once.`,
        retryAfterS: RETRY_AFTER_S,
      });
    }
    if (this.#total >= totalMax) {
      throw new ApiError('server_busy', {
        message: `The server has as many ${what} as it takes at once. Try again later.`,
        retryAfterS: RETRY_AFTER_S,
      });
    }
    this.#byKey.set(key, ofKey + 1);
    this.#total += 1;
    return () => {
      this.#total -= 1;
      const left = (this.#byKey.get(key) ?? 1) - 1;
      if (left === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, left);
    };
  }
}
