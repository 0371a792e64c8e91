import { createHash, randomBytes } from 'node:crypto';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import { inBatches } from '../../platform/sweep-job.js';
import * as store from './sandbox-store.js';
import { type SandboxSession, stateOf } from './session.js';
import { type Form, readSessionInput } from './session-request.js';
import { StripeShapedError } from './stripe-error.js';
import { type PaymentOutcome, paymentEvent } from './stripe-objects.js';

/** Long enough that a session id cannot be guessed. */
const SESSION_ID_BYTES = 32;
/**
 * For how long a session is kept after its end: longer than its last event is delivered, and as long as Stripe keeps
 * events.
 */
const KEPT_S = 30 * 24 * 3_600;
const FORGOTTEN_AT_ONCE_MAX = 1_000;

export interface SandboxSessionsDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  /** Called after an event was committed. */
  readonly onEvent: () => void;
}

/** The checkouts of the sandbox. */
export class SandboxSessions {
  readonly #deps: SandboxSessionsDeps;

  constructor(deps: SandboxSessionsDeps) {
    this.#deps = deps;
  }

  /**
   * Opens a session, or returns the one that the key has opened.
   *
   * @throws StripeShapedError
   */
  async create(form: Form, idempotencyKey: string): Promise<SandboxSession> {
    const { postgres, clock } = this.#deps;
    const requestHash = createHash('sha256')
      .update(JSON.stringify([...form].sort()))
      .digest();
    return transaction(postgres, async (tx) => {
      // A repeated request gets its response at any time, so this comes before the checks that depend on the time.
      const before = await sessionOfKey(tx, idempotencyKey, requestHash);
      if (before !== undefined) return before;
      const createdAt = unixSeconds(clock);
      const session: SandboxSession = {
        ...readSessionInput(form, createdAt),
        id: `cs_test_${randomBytes(SESSION_ID_BYTES).toString('base64url')}`,
        status: 'open',
        paymentIntentId: newId('pi', clock),
        declined: 0,
        createdAt,
      };
      if (await store.insertSandboxSession(tx, session, { idempotencyKey, requestHash })) return session;
      const raced = await sessionOfKey(tx, idempotencyKey, requestHash);
      if (raced === undefined) throw new Error('no session was found for a used key');
      return raced;
    });
  }

  find(id: string): Promise<SandboxSession | undefined> {
    return store.findSession(this.#deps.postgres.db, id);
  }

  /** Pays an open session; a paid one stays as it is. Returns the session afterwards. */
  pay(id: string): Promise<SandboxSession | undefined> {
    return this.#attempt(id, 'succeeded', async (tx, session) => {
      await store.completeSession(tx, id);
      return { ...session, status: 'complete' };
    });
  }

  /** Declines an attempt to pay an open session. Returns the session afterwards. */
  decline(id: string): Promise<SandboxSession | undefined> {
    return this.#attempt(id, 'payment_failed', async (tx, session) => {
      await store.countDecline(tx, id);
      return { ...session, declined: session.declined + 1 };
    });
  }

  /** Deletes sessions that ended long ago, with their keys; returns how many. */
  async forgetEnded(signal?: AbortSignal): Promise<number> {
    const { postgres, clock } = this.#deps;
    const forgetNext = () =>
      store.deleteSessions(postgres.db, unixSeconds(clock) - KEPT_S, FORGOTTEN_AT_ONCE_MAX);
    return inBatches(FORGOTTEN_AT_ONCE_MAX, forgetNext, signal);
  }

  /** Commits the change of the session and its event together. */
  async #attempt(
    id: string,
    outcome: PaymentOutcome,
    change: (tx: Tx, session: SandboxSession) => Promise<SandboxSession>,
  ): Promise<SandboxSession | undefined> {
    const { postgres, clock, onEvent } = this.#deps;
    const changed = await transaction(postgres, async (tx) => {
      const session = await store.lockSession(tx, id);
      const nowS = unixSeconds(clock);
      if (session === undefined || stateOf(session, nowS) !== 'open') return session;
      const after = await change(tx, session);
      const eventId = newId('evt', clock);
      await store.insertEvent(tx, eventId, paymentEvent(eventId, after, outcome, nowS), clock.nowMs());
      return after;
    });
    onEvent();
    return changed;
  }
}

async function sessionOfKey(
  tx: Tx,
  idempotencyKey: string,
  requestHash: Buffer,
): Promise<SandboxSession | undefined> {
  const found = await store.findSessionOfKey(tx, idempotencyKey);
  if (found === undefined || found.requestHash.equals(requestHash)) return found;
  throw new StripeShapedError(
    400,
    'idempotency_error',
    'Keys for idempotent requests can only be used with the same parameters they were first used with.',
  );
}
