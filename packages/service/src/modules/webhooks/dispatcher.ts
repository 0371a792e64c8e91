import { randomInt } from 'node:crypto';
import { WEBHOOK_KEPT_DAYS, WEBHOOK_TIMEOUT_MS } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { KeyCounts } from '../../kernel/key-counts.js';
import { tenantRoom } from '../../kernel/tenant-share.js';
import type { Logger } from '../../platform/log/index.js';
import type { Metrics } from '../../platform/metrics/index.js';
import { type AwaitedWork, type Postgres, transaction } from '../../platform/postgres/index.js';
import { pause, retryPauseMs, Wakeup } from '../../platform/wakeup.js';
import * as store from './attempt-store.js';
import { type DeliveryDecision, decideDelivery } from './delivery-decision.js';
import { DispatcherMetrics } from './dispatcher-metrics.js';
import { deleteMessages, type FannedOut, fanOut, waitingMessage } from './outbox-store.js';
import type { Send, SendOutcome } from './sender.js';
import { signedHeaders } from './signature.js';

/** Upper bounds of the concurrent attempts in this process, and of those to one endpoint. */
const ATTEMPTS_MAX = 64;
const ATTEMPTS_PER_ENDPOINT_MAX = 4;
/** Upper bounds of the messages whose deliveries are written, or that are deleted, in one transaction. */
const FAN_OUT_MESSAGES_MAX = 500;
const DELETED_MESSAGES_MAX = 1_000;
/** Upper bound of the deliveries that are cancelled in one transaction. */
const CANCELLED_DELIVERIES_MAX = 5_000;
/**
 * An attempt without a result for this long was lost with its process, and is repeated. Several times the duration of
 * an attempt, so that the clocks of two processes may differ a little.
 */
export const LEASE_MS = 12 * WEBHOOK_TIMEOUT_MS;
/** Upper bound of the time until the dispatcher notices a new message, or an attempt that has become due. */
const LOOK_MS = 500;
/**
 * Attempts that end within this time make room together: a claim costs more than the few attempts that it would start
 * at once.
 */
const GATHER_MS = 20;
const UPKEEP_INTERVAL_MS = 10_000;
/** Deadline of running attempts when the service stops; unfinished ones are repeated after the next start. */
const STOP_GRACE_MS = 2_000;

const MS_PER_DAY = 86_400_000;
const RANDOM_STEPS = 1_000_000;
const USER_AGENT = 'Tollgate-Webhooks/1';

export interface DispatcherDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: Metrics;
  readonly send: Send;
  /** A number from 0 to 1, by which pauses vary. */
  readonly random?: () => number;
}

export interface DispatcherOptions {
  readonly attemptsMax?: number;
  readonly attemptsPerEndpointMax?: number;
  /** Upper bound of the deliveries that are cancelled in one transaction. */
  readonly cancelledMax?: number;
  /** Deadline of running attempts when the service stops. */
  readonly stopGraceMs?: number;
}

/**
 * Delivers the messages of the outbox. Any number of dispatchers may run on one database, in any number of processes.
 */
export interface WebhookDispatcher {
  /**
   * Works until `signal` aborts, then ends when running attempts have ended, or after a grace period; never rejects.
   */
  run(signal: AbortSignal): Promise<void>;
  /** For a watch; ends the dispatcher's wait when there is something to send. */
  readonly awaited: readonly AwaitedWork[];
  /** Attempts everything that is due now once; returns the number of attempts. */
  drain(): Promise<number>;
}

export function createWebhookDispatcher(
  deps: DispatcherDeps,
  options: DispatcherOptions = {},
): WebhookDispatcher {
  return new Dispatcher(deps, options);
}

class Dispatcher implements WebhookDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #attemptsMax: number;
  readonly #perEndpointMax: number;
  readonly #cancelledMax: number;
  readonly #stopGraceMs: number;
  readonly #random: () => number;
  readonly #metrics: DispatcherMetrics;
  readonly #wakeup = new Wakeup();
  readonly awaited = [waitingMessage, store.nextAttemptMs].map((dueAtMs) => ({
    dueAtMs,
    lookMs: LOOK_MS,
    onDue: () => this.#wakeup.notify(),
  }));
  /** Number of running attempts, by endpoint and by tenant. */
  readonly #inHand = new KeyCounts();
  readonly #inHandOfTenants = new KeyCounts();
  readonly #underWay = new Set<Promise<void>>();
  #upkeepAtMs = 0;

  constructor(deps: DispatcherDeps, options: DispatcherOptions) {
    this.#deps = deps;
    this.#attemptsMax = options.attemptsMax ?? ATTEMPTS_MAX;
    this.#perEndpointMax = options.attemptsPerEndpointMax ?? ATTEMPTS_PER_ENDPOINT_MAX;
    this.#cancelledMax = options.cancelledMax ?? CANCELLED_DELIVERIES_MAX;
    this.#stopGraceMs = options.stopGraceMs ?? STOP_GRACE_MS;
    this.#random = deps.random ?? (() => randomInt(RANDOM_STEPS + 1) / RANDOM_STEPS);
    this.#metrics = new DispatcherMetrics(deps.metrics);
  }

  async run(signal: AbortSignal): Promise<void> {
    const sending = new AbortController();
    let failures = 0;
    while (!signal.aborted) {
      try {
        const { isMore } = await this.#fanOut();
        await this.#startDue(sending.signal);
        const isUpkeepDone = await this.#upkeep();
        failures = 0;
        if (!isMore && isUpkeepDone) await this.#rest(signal);
      } catch (error) {
        this.#metrics.failed('turn');
        this.#deps.log.warn({ err: error }, 'could not dispatch webhooks; will try again');
        await pause(retryPauseMs(++failures), signal);
      }
    }
    await this.#stop(sending);
  }

  /** Waits until attempts have ended, which makes room, or there is something to send, or upkeep is due. */
  async #rest(signal: AbortSignal): Promise<void> {
    const isNotified = await this.#wakeup.wait(UPKEEP_INTERVAL_MS, signal);
    if (isNotified) await pause(GATHER_MS, signal);
  }

  async drain(): Promise<number> {
    const { signal } = new AbortController();
    while ((await this.#fanOut()).messages > 0);
    let attempts = 0;
    for (;;) {
      // Deliveries for an endpoint with the maximum of running attempts were not claimed. When attempts have ended
      // since then, some may be due after all.
      const wasIdle = this.#underWay.size === 0;
      const started = await this.#startDue(signal);
      if (started === 0 && wasIdle) return attempts;
      attempts += started;
      if (this.#underWay.size > 0) await Promise.race(this.#underWay);
    }
  }

  #fanOut(): Promise<FannedOut> {
    const { postgres, clock } = this.#deps;
    return transaction(postgres, (tx) => fanOut(tx, FAN_OUT_MESSAGES_MAX, clock.nowMs()));
  }

  /** Starts due attempts as long as there is room; returns their number. */
  async #startDue(signal: AbortSignal): Promise<number> {
    const { postgres, clock } = this.#deps;
    const deliveriesMax = this.#attemptsMax - this.#underWay.size;
    if (deliveriesMax <= 0) return 0;
    const roomOf = (held: number) => tenantRoom(held, this.#underWay.size, this.#attemptsMax);
    const bounds = {
      deliveriesMax,
      perEndpointMax: this.#perEndpointMax,
      inHand: this.#inHand.all,
      ofTenants: new Map(
        Array.from(this.#inHandOfTenants.all, ([tenantId, held]) => [tenantId, roomOf(held)]),
      ),
      perTenantMax: roomOf(0),
    };
    const nowMs = clock.nowMs();
    const attempts = await transaction(postgres, (tx) => store.claimDue(tx, bounds, nowMs, nowMs + LEASE_MS));
    for (const attempt of attempts) this.#start(attempt, signal);
    return attempts.length;
  }

  #start(attempt: store.Attempt, signal: AbortSignal): void {
    const count = (change: 1 | -1) => {
      this.#inHand.add(store.endpointKey(attempt), change);
      this.#inHandOfTenants.add(attempt.tenant_id, change);
    };
    count(1);
    const underWay = this.#attempt(attempt, signal).finally(() => {
      this.#underWay.delete(underWay);
      count(-1);
      this.#wakeup.notify();
    });
    this.#underWay.add(underWay);
  }

  /** Makes one attempt and stores its result; never rejects. An attempt whose result is not stored is repeated. */
  async #attempt(attempt: store.Attempt, signal: AbortSignal): Promise<void> {
    try {
      const outcome = await this.#deps.send(this.#postingOf(attempt), signal);
      this.#metrics.attempted(outcome);
      await this.#record(attempt, outcome);
    } catch (error) {
      if (signal.aborted) return;
      this.#metrics.failed('attempt');
      const { endpoint_id: endpointId, message_id: messageId } = attempt;
      this.#deps.log.warn(
        { err: error, endpointId, messageId },
        'a webhook attempt was lost; it is made again',
      );
    }
  }

  #postingOf(attempt: store.Attempt) {
    const nowS = unixSeconds(this.#deps.clock);
    const { previous_secret: previous, previous_secret_until: previousUntil, payload: body } = attempt;
    const previousSigns = previous !== null && previousUntil !== null && nowS < previousUntil;
    const secrets = previousSigns ? [attempt.secret, previous] : [attempt.secret];
    return {
      url: attempt.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        ...signedHeaders(attempt.message_id, nowS, body, secrets),
      },
      body,
    };
  }

  async #record(attempt: store.Attempt, outcome: SendOutcome): Promise<void> {
    const atMs = this.#deps.clock.nowMs();
    const verdict = decideDelivery(attempt, outcome, atMs, this.#random());
    const result = {
      lastStatus: 'status' in outcome ? outcome.status : null,
      lastError: 'error' in outcome ? outcome.error : null,
      atMs,
    };
    const isDisabled = await transaction(this.#deps.postgres, async (tx) => {
      // The endpoint before its deliveries, the order of everyone who locks both.
      if (verdict.kind === 'delivered') {
        if (attempt.failing_since_ms !== null) await store.markFailing(tx, attempt, null);
        await store.markDelivered(tx, attempt, result);
        return false;
      }
      if (attempt.failing_since_ms === null) await store.markFailing(tx, attempt, atMs);
      const disabled = await this.#disableIfToBe(tx, attempt, verdict);
      await store.markFailed(tx, attempt, result, disabled ? undefined : verdict.nextAttemptAtMs);
      return disabled;
    });
    if (isDisabled) while (!(await this.#cancelSome()));
  }

  /** Cancels some deliveries of disabled endpoints; returns whether these were all. */
  async #cancelSome(): Promise<boolean> {
    const cancelled = await transaction(this.#deps.postgres, (tx) =>
      store.cancelOfDisabled(tx, this.#cancelledMax),
    );
    return cancelled < this.#cancelledMax;
  }

  async #disableIfToBe(
    tx: Parameters<typeof store.disableEndpoint>[0],
    attempt: store.Attempt,
    { disable: reason }: Extract<DeliveryDecision, { kind: 'failed' }>,
  ): Promise<boolean> {
    if (reason === undefined) return false;
    const disabled = await store.disableEndpoint(tx, attempt, reason, unixSeconds(this.#deps.clock));
    if (!disabled) return false;
    this.#metrics.endpointDisabled(reason);
    const { project_id: projectId, endpoint_id: endpointId } = attempt;
    this.#deps.log.info({ projectId, endpointId, reason }, 'a webhook endpoint was disabled');
    return true;
  }

  /**
   * At intervals: deletes what is too old, cancels what an interrupted process has not, and measures the backlog.
   * Returns whether nothing is left to do.
   */
  async #upkeep(): Promise<boolean> {
    const { postgres, clock } = this.#deps;
    const nowMs = clock.nowMs();
    if (nowMs < this.#upkeepAtMs) return true;
    const deleted = await transaction(postgres, async (tx) => {
      await store.forgetPreviousSecrets(tx, unixSeconds(clock));
      return deleteMessages(tx, nowMs - WEBHOOK_KEPT_DAYS * MS_PER_DAY, DELETED_MESSAGES_MAX);
    });
    this.#metrics.backlog(await store.readBacklog(postgres.db, nowMs));
    const isDone = (await this.#cancelSome()) && deleted < DELETED_MESSAGES_MAX;
    if (isDone) this.#upkeepAtMs = nowMs + UPKEEP_INTERVAL_MS;
    return isDone;
  }

  async #stop(sending: AbortController): Promise<void> {
    const done = new AbortController();
    const ended = Promise.all(this.#underWay).then(() => done.abort());
    await pause(this.#stopGraceMs, done.signal);
    sending.abort(new Error('the service stops'));
    await ended;
  }
}
