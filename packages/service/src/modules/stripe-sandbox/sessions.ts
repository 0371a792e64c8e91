import { createHash, randomBytes } from 'node:crypto';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import * as store from './sandbox-store.js';
import { type SandboxSession, stateOf } from './session.js';
import { type Form, readSessionInput } from './session-request.js';
import { StripeShapedError } from './stripe-error.js';
import { type PaymentOutcome, paymentEvent } from './stripe-objects.js';

/** Of a session id: nobody guesses it. */
const SESSION_ID_BYTES = 32;
/**
 * How long a session can be looked at after it has ended: past the last attempt to tell of it, and as Stripe
 * keeps its events.
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
  constructor(private readonly deps: SandboxSessionsDeps) {}

  /** Opens a session, or answers the one that the key has opened. @throws StripeShapedError */
  async create(form: Form, idempotencyKey: string): Promise<SandboxSession> {
    const { postgres, clock } = this.deps;
    const requestHash = createHash('sha256')
      .update(JSON.stringify([...form].sort()))
      .digest();
    return transaction(postgres, async (tx) => {
      // A repeated request is answered whatever the time is by now, so this comes before what depends on it.
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
      if (raced === undefined) throw new Error('a key that is taken has no session');
      return raced;
    });
  }

  find(id: string): Promise<SandboxSession | undefined> {
    return store.findSession(this.deps.postgres.db, id);
  }

  /** Pays an open session; one that is paid stays so. Answers it as it is then. */
  pay(id: string): Promise<SandboxSession | undefined> {
    return this.#attempt(id, 'succeeded', async (tx, session) => {
      await store.completeSession(tx, id);
      return { ...session, status: 'complete' };
    });
  }

  /** Lets an attempt to pay an open session fail. Answers the session as it is then. */
  decline(id: string): Promise<SandboxSession | undefined> {
    return this.#attempt(id, 'payment_failed', async (tx, session) => {
      await store.countDecline(tx, id);
      return { ...session, declined: session.declined + 1 };
    });
  }

  /** Forgets sessions that ended long ago, and their keys. Answers how many. */
  async forgetEnded(signal: AbortSignal): Promise<number> {
    const { postgres, clock } = this.deps;
    let forgotten = 0;
    for (let some = FORGOTTEN_AT_ONCE_MAX; some === FORGOTTEN_AT_ONCE_MAX && !signal.aborted; ) {
      some = await store.deleteSessions(postgres.db, unixSeconds(clock) - KEPT_S, FORGOTTEN_AT_ONCE_MAX);
      forgotten += some;
    }
    return forgotten;
  }

  /** What became of the session and the event that tells of it are committed together. */
  async #attempt(
    id: string,
    outcome: PaymentOutcome,
    change: (tx: Tx, session: SandboxSession) => Promise<SandboxSession>,
  ): Promise<SandboxSession | undefined> {
    const { postgres, clock, onEvent } = this.deps;
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
