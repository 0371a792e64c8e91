import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { inBatches } from '../../platform/sweep-job.js';
import { repeat, Wakeup } from '../../platform/wakeup.js';
import { signatureHeader } from '../checkout/index.js';
import { claimEvents, type DueEvent, deleteEvent, postponeEvent } from './sandbox-store.js';

const POLL_MS = 1_000;
const ANSWER_MS_MAX = 10_000;
/** Longer than the longest attempt: an event whose process was killed is then delivered by another one. */
const LEASE_MS = 15_000;
const EVENTS_AT_ONCE_MAX = 10;
const PAUSE_FIRST_MS = 1_000;
const PAUSE_LAST_MS = 3_600_000;
/** As long as Stripe retries. */
const TRY_MS_MAX = 3 * 24 * 3_600_000;

export interface SandboxDeliveriesDeps {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  /** Returns the URL that events are posted to. */
  readonly webhookUrl: () => string;
  readonly webhookSecret: string;
}

/** Delivers the sandbox's events, each until it is received. Any number of processes share the work. */
export class SandboxDeliveries {
  readonly #deps: SandboxDeliveriesDeps;
  readonly #wakeup = new Wakeup();

  constructor(deps: SandboxDeliveriesDeps) {
    this.#deps = deps;
  }

  /** Call it after an event was stored. */
  notify(): void {
    this.#wakeup.notify();
  }

  /** Delivers events that are due until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void> {
    const deliverAllDue = () => inBatches(EVENTS_AT_ONCE_MAX, () => this.#deliverDue(), signal);
    return repeat(deliverAllDue, signal, {
      pollMs: POLL_MS,
      wakeup: this.#wakeup,
      onFailure: (err) => this.#deps.log.warn({ err }, 'could not read sandbox events'),
    });
  }

  /** Tries every event that is due once, up to a bound; returns how many it tried. */
  async #deliverDue(): Promise<number> {
    const { postgres, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const events = await claimEvents(postgres.db, nowMs, nowMs + LEASE_MS, EVENTS_AT_ONCE_MAX);
    await Promise.all(events.map((event) => this.#deliver(event)));
    return events.length;
  }

  async #deliver(event: DueEvent): Promise<void> {
    const { postgres, clock, log } = this.#deps;
    const problem = await this.#post(event);
    if (problem === undefined) return deleteEvent(postgres.db, event.id);
    const nowMs = clock.nowMs();
    const details = { eventId: event.id, attempts: event.attempts, problem };
    if (nowMs - event.createdAtMs > TRY_MS_MAX) {
      log.warn(details, 'gave up delivering a sandbox event');
      return deleteEvent(postgres.db, event.id);
    }
    log.warn(details, 'a sandbox event was not received; will try again');
    return postponeEvent(postgres.db, event.id, nowMs + pauseMs(event.attempts));
  }

  /** Returns why the event was not received; undefined when it was. */
  async #post({ body }: DueEvent): Promise<string | undefined> {
    const bytes = Buffer.from(body);
    const { webhookUrl, webhookSecret, clock } = this.#deps;
    try {
      const answer = await fetch(webhookUrl(), {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'stripe-signature': signatureHeader(bytes, webhookSecret, unixSeconds(clock)),
        },
        body: bytes,
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      const text = await answer.text();
      return answer.ok ? undefined : `${answer.status} ${text.slice(0, 500)}`;
    } catch (error) {
      return String(error);
    }
  }
}

/** Returns how long to wait after the n-th attempt, counted from 1. */
function pauseMs(attempts: number): number {
  return Math.min(PAUSE_FIRST_MS * 2 ** Math.min(attempts - 1, 20), PAUSE_LAST_MS);
}
