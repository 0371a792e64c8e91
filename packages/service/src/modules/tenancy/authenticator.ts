import { hash } from 'node:crypto';
import { isWellFormedApiKey } from '../../kernel/api-key-text.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Authenticator, KeyPrincipal, Principal } from '../../kernel/principal.js';
import { FlightCache } from '../../platform/flight-cache.js';

/** A revoked key works at most this long on other nodes; the contract allows one second. */
export const KEY_CACHE_MS_MAX = 500;
/** Unknown keys are cached too, so that a client with a revoked key does not keep the store busy. */
const KEYS_CACHED_MAX = 20_000;

/** A key as it is stored. */
export interface StoredKey {
  readonly principal: KeyPrincipal;
  /** Unix seconds from which on the key is void. */
  readonly expiresAt: number | undefined;
}

/** Returns the key with this SHA-256, unless it is revoked. */
export type FindKey = (sha256: Buffer) => Promise<StoredKey | undefined>;

export interface AuthenticatorOptions {
  readonly findKey: FindKey;
  readonly serviceKey: string;
  readonly clock: Clock;
  /** A clock that never goes back; measures the age of cached keys. */
  readonly monotonicMs?: () => number;
}

const SERVICE: Principal = { kind: 'service' };

/** Returns the SHA-256 of a key's text, which is stored in place of the key. */
export function keyHash(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares hashes of equal length, one character per byte, in a time that does not depend on where they differ. */
function isSameHash(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index += 1) {
    difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  }
  return difference === 0;
}

/**
 * Returns the principal of a key. Every key is hashed once and compared in constant time; a malformed key never reaches
 * the store.
 */
export class KeyAuthenticator implements Authenticator {
  readonly #serviceHash: string;
  readonly #clock: Clock;
  readonly #keys: FlightCache<StoredKey | undefined>;

  constructor({ findKey, serviceKey, clock, monotonicMs = () => performance.now() }: AuthenticatorOptions) {
    this.#serviceHash = hash('sha256', serviceKey, 'binary');
    this.#clock = clock;
    this.#keys = new FlightCache({
      lookUp: (sha256) => findKey(Buffer.from(sha256, 'binary')),
      ageMsMax: KEY_CACHE_MS_MAX,
      entriesMax: KEYS_CACHED_MAX,
      nowMs: monotonicMs,
    });
  }

  authenticate(token: string): Principal | undefined | Promise<Principal | undefined> {
    const sha256 = hash('sha256', token, 'binary');
    // A cached key is well-formed and not the service key, so both checks can be skipped.
    if (!this.#keys.has(sha256)) {
      if (isSameHash(sha256, this.#serviceHash)) return SERVICE;
      if (!isWellFormedApiKey(token)) return undefined;
    }
    return this.#find(sha256);
  }

  /** As `authenticate`, with only the hash of a key: the caller has checked the key itself before. */
  authenticateHash(sha256: Buffer): ReturnType<Authenticator['authenticate']> {
    const text = sha256.toString('binary');
    return isSameHash(text, this.#serviceHash) ? SERVICE : this.#find(text);
  }

  /** Makes a revocation effective on this node at once. */
  forget(): void {
    this.#keys.clear();
  }

  #find(sha256: string): Principal | undefined | Promise<Principal | undefined> {
    const found = this.#keys.get(sha256);
    return found instanceof Promise ? found.then((key) => this.#valid(key)) : this.#valid(found);
  }

  #valid(key: StoredKey | undefined): Principal | undefined {
    if (key === undefined) return undefined;
    return key.expiresAt === undefined || unixSeconds(this.#clock) < key.expiresAt
      ? key.principal
      : undefined;
  }
}
