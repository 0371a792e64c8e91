import { BoundedMap } from '../../kernel/bounded-map.js';
import { DomainError } from '../../kernel/errors.js';
import type { Principal } from '../../kernel/principal.js';

/** Upper bound of the keys whose rate is remembered. */
const KEYS_MAX = 100_000;
/** A key that was silent may send the requests of this time at once. */
const BURST_MS = 1_000;

/** Returns the rates of keys that may send at most `perSecond` requests in a second; undefined without such a limit. */
export function limitKeyRates(perSecond: number | undefined): KeyRates | undefined {
  return perSecond === undefined ? undefined : new KeyRates(perSecond);
}

/**
 * Bounds how many requests each API key may send in a second to this process. Remembers one time for each key: the
 * time until which its requests are spread, if each of them takes its part of a second.
 */
export class KeyRates {
  readonly #perSecond: number;
  readonly #nowMs: () => number;
  readonly #spreadUntilMs = new BoundedMap<string, number>(KEYS_MAX);

  /**
   * @param perSecond upper bound of the requests of one key in a second
   * @param nowMs a clock that never goes back
   */
  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#nowMs = nowMs;
  }

  /**
   * Counts a request. Returns the refusal of a key that sends too many: `key_rate_exceeded`, and then nothing is
   * counted. The service key has no limit.
   */
  refusalOf(principal: Principal | undefined): DomainError | undefined {
    if (principal?.kind !== 'key') return undefined;
    const nowMs = this.#nowMs();
    const partMs = 1_000 / this.#perSecond;
    const untilMs = Math.max(this.#spreadUntilMs.get(principal.keyId) ?? 0, nowMs) + partMs;
    const waitMs = untilMs - nowMs - BURST_MS;
    // Fractions add up inexactly.
    if (waitMs > partMs / 2) {
      return new DomainError('key_rate_exceeded', {
        message: `The API key sends more than ${this.#perSecond} requests per second; nothing was accepted.`,
        retryAfterS: Math.max(1, Math.ceil(waitMs / 1_000)),
      });
    }
    this.#spreadUntilMs.set(principal.keyId, untilMs);
    return undefined;
  }
}
