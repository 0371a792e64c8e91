import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Principal } from '../../kernel/principal.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { type KeyAuthenticator, keyHash } from '../tenancy/index.js';
import { deleteSession, insertSession, keyHashOf } from './session-store.js';

export const SESSION_COOKIE = 'tollgate_session';
/** Header of changes, with a token that a page of another site cannot know. */
export const CSRF_HEADER = 'x-csrf-token';
/** After this time a user must sign in again. */
export const SESSION_S = 24 * 3_600;
/** Upper bound of the sessions of one key: whoever has a key could otherwise store any number. */
const SESSIONS_OF_KEY_MAX = 100;

const TOKEN_BYTES = 32;
/** Base64url of 32 bytes. */
const TOKEN = /^[\w-]{43}$/;
const SAFE_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

export interface ConsoleSessionsDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly authenticator: Pick<KeyAuthenticator, 'authenticate' | 'authenticateHash'>;
}

/** A session that was just opened. */
export interface OpenedSession {
  /** Sent in the cookie, and nowhere else. */
  readonly token: string;
  readonly csrfToken: string;
}

/**
 * The sessions of the console. A session is as good as the key it was opened with: when the key is revoked or expires,
 * the session ends with it.
 */
export class Sessions {
  readonly #deps: ConsoleSessionsDeps;

  constructor(deps: ConsoleSessionsDeps) {
    this.#deps = deps;
  }

  /** Signs in with an API key; returns undefined for an invalid or revoked key. */
  async open(apiKey: string): Promise<OpenedSession | undefined> {
    const { postgres, clock, authenticator } = this.#deps;
    if ((await authenticator.authenticate(apiKey)) === undefined) return undefined;
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const createdAt = unixSeconds(clock);
    const session = {
      idHash: idHashOf(token),
      keyHash: keyHash(apiKey),
      createdAt,
      expiresAt: createdAt + SESSION_S,
    };
    await insertSession(postgres, session, SESSIONS_OF_KEY_MAX);
    return { token, csrfToken: csrfTokenOf(token) };
  }

  async authenticate({
    method,
    headers,
  }: Pick<IncomingMessage, 'method' | 'headers'>): Promise<Principal | undefined> {
    const token = sessionToken(headers);
    if (token === undefined) return undefined;
    if (!SAFE_METHODS.has(method) && !isCsrfToken(headers[CSRF_HEADER], token)) return undefined;
    const { postgres, clock, authenticator } = this.#deps;
    const found = await keyHashOf(postgres, idHashOf(token), unixSeconds(clock));
    return found && authenticator.authenticateHash(found);
  }

  /** Signs out; without a session it does nothing. */
  async close(headers: IncomingHttpHeaders): Promise<void> {
    const token = sessionToken(headers);
    if (token !== undefined) await deleteSession(this.#deps.postgres, idHashOf(token));
  }
}

/** Returns the session's token from a request's cookies. */
export function sessionToken({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  const pair = cookie.split(';').find((each) => each.trim().startsWith(`${SESSION_COOKIE}=`));
  const token = pair?.trim().slice(SESSION_COOKIE.length + 1);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** Returns the token that the page sends with each change. It is derived from the cookie, which pages cannot read. */
export function csrfTokenOf(token: string): string {
  return hash('sha256', `csrf ${token}`, 'base64url');
}

function isCsrfToken(given: string | string[] | undefined, token: string): boolean {
  const expected = Buffer.from(csrfTokenOf(token));
  const bytes = Buffer.from(typeof given === 'string' ? given : '');
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function idHashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
