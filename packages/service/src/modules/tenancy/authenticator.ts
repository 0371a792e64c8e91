import { hash } from 'node:crypto';
import { isWellFormedApiKey } from '../../kernel/api-key-text.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Authenticator, KeyPrincipal, Principal } from '../../kernel/principal.js';
import { FlightCache } from '../../platform/flight-cache.js';

/** A revoked key works at most this long on other nodes; the contract allows one second. */
export const KEY_CACHE_MS_MAX = 500;
/** Unknown keys are remembered too, so that a client with a revoked one does not keep the store busy. */
const KEYS_CACHED_MAX = 20_000;

/** A key as it stands in the store. */
export interface StoredKey {
  readonly principal: KeyPrincipal;
  /** Unix seconds from which on the key is void. */
  readonly expiresAt: number | undefined;
}

/** Finds the key, not revoked, whose text has this SHA-256. */
export type FindKey = (sha256: Buffer) => Promise<StoredKey | undefined>;

export interface AuthenticatorOptions {
  readonly findKey: FindKey;
  readonly serviceKey: string;
  readonly clock: Clock;
  /** A clock that never goes back; for the age of cached keys. */
  readonly monotonicMs?: () => number;
}

const SERVICE: Principal = { kind: 'service' };

/** SHA-256 of a key's text: what is stored in place of the key. */
export function keyHash(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares hashes of equal length, one character per byte, in the same time wherever they differ. */
function isSameHash(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index += 1) {
    difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  }
  return difference === 0;
}

/**
 * Tells who a key speaks for. Every key is hashed once and compared in constant time, whatever it is; a malformed one
 * never reaches the store.
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
    // What was looked up lately is no service key, and was well-formed: neither needs to be asked again.
    if (!this.#keys.has(sha256)) {
      if (isSameHash(sha256, this.#serviceHash)) return SERVICE;
      if (!isWellFormedApiKey(token)) return undefined;
    }
    return this.#find(sha256);
  }

  /** As `authenticate`, of a key of which only the hash is at hand: who has it has shown the key before. */
  authenticateHash(sha256: Buffer): ReturnType<Authenticator['authenticate']> {
    const text = sha256.toString('binary');
    return isSameHash(text, this.#serviceHash) ? SERVICE : this.#find(text);
  }

  /** Makes a revocation felt on this node at once. */
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
