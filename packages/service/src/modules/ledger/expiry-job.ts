import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Logger } from '../../platform/log/index.js';
import { Counter, Gauge, type Metrics } from '../../platform/metrics/index.js';
import { type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import { repeat } from '../../platform/wakeup.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import { claimDueWallets, measureDueWallets, updateWallets } from './wallet-store.js';

/** Upper bound of the wallets that one transaction settles. Few, because it locks them meanwhile. */
const WALLETS_PER_TRANSACTION = 100;
/** Poll interval, and so how long credits may outlive their expiry when no usage settles the wallet before. */
const POLL_MS = 1_000;

export interface CreditExpiryDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
}

/** Takes back what is left of expired credits. Any number of jobs may run on one database. */
export interface CreditExpiryJob {
  /** Works until `signal` aborts, then finishes the current transaction; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Settles all wallets that are due now; returns the number of credits that expired. Rejects when the database fails.
   */
  sweep(signal?: AbortSignal): Promise<number>;
}

export function createCreditExpiryJob(deps: CreditExpiryDeps): CreditExpiryJob {
  return new ExpiryJob(deps);
}

class ExpiryJob implements CreditExpiryJob {
  readonly #deps: CreditExpiryDeps;
  readonly #observer: ExpiryObserver;

  constructor(deps: CreditExpiryDeps) {
    this.#deps = deps;
    this.#observer = new ExpiryObserver(deps.metrics);
  }

  run(signal: AbortSignal): Promise<void> {
    return repeat(() => this.sweep(signal), signal, {
      pollMs: POLL_MS,
      onFailure: (err) => {
        this.#observer.failures.inc();
        this.#deps.log.warn({ err }, 'could not take back expired credits; will try again');
      },
      failurePauseMs: () => POLL_MS,
    });
  }

  async sweep(signal?: AbortSignal): Promise<number> {
    const { postgres, clock } = this.#deps;
    await this.#measure();
    let expired = 0;
    for (let claimed = WALLETS_PER_TRANSACTION; claimed > 0 && signal?.aborted !== true; ) {
      const outcome = await transaction(postgres, (tx) => expireSome(tx, clock));
      claimed = outcome.claimed;
      expired += outcome.expired;
      this.#observer.expired.inc(outcome.expired);
    }
    if (expired > 0) await this.#measure();
    return expired;
  }

  async #measure(): Promise<void> {
    const { postgres, clock } = this.#deps;
    const nowS = unixSeconds(clock);
    const { count, oldestAtS } = await measureDueWallets(postgres.db, nowS);
    this.#observer.due.set(count);
    this.#observer.oldest.set(oldestAtS === null ? 0 : nowS - oldestAtS);
  }
}

async function expireSome(tx: Tx, clock: Clock): Promise<{ claimed: number; expired: number }> {
  const due = await claimDueWallets(tx, unixSeconds(clock), WALLETS_PER_TRANSACTION);
  if (due.length === 0) return { claimed: 0, expired: 0 };
  const { wallets, expiries } = await settleWallets(tx, due, clock);
  await updateWallets(tx, wallets);
  await insertTransactions(tx, expiries);
  return { claimed: due.length, expired: expiries.length };
}

class ExpiryObserver {
  readonly due: Gauge;
  readonly oldest: Gauge;
  readonly expired: Counter;
  readonly failures: Counter;

  constructor(metrics: Metrics) {
    const registers = [metrics];
    this.due = new Gauge({
      name: 'tollgate_credit_expiry_due_wallets',
      help: 'Wallets with an expired credit that was not taken back yet, at the last measurement.',
      registers,
    });
    this.oldest = new Gauge({
      name: 'tollgate_credit_expiry_oldest_seconds',
      help: 'For how long the oldest of these credits had been expired.',
      registers,
    });
    this.expired = new Counter({
      name: 'tollgate_credits_expired_total',
      help: 'Expired credits of which something was taken back.',
      registers,
    });
    this.failures = new Counter({
      name: 'tollgate_credit_expiry_failures_total',
      help: 'Failed attempts to take expired credits back; they are repeated.',
      registers,
    });
  }
}
