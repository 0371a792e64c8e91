import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { Logger } from '../../platform/log/index.js';
import { Counter, Gauge, type Metrics } from '../../platform/metrics/index.js';
import { type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import { createSweepJob, inBatches, type SweepJob } from '../../platform/sweep-job.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import { claimDueWallets, measureDueWallets, nextCreditExpiryMs, updateWallets } from './wallet-store.js';

/** Upper bound of the wallets that one transaction settles. Few, because it locks them meanwhile. */
const WALLETS_PER_TRANSACTION = 100;
/** Upper bound of the time for which expired credits stay in a wallet that no usage settles. */
const LOOK_MS = 1_000;
/** Interval at which due wallets are measured. */
const POLL_MS = 10_000;

export interface CreditExpiryDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
}

/**
 * Takes back what is left of expired credits. A sweep settles all wallets that are due, and returns the number of
 * credits that expired.
 */
export function createCreditExpiryJob({ postgres, clock, log, metrics }: CreditExpiryDeps): SweepJob {
  const observer = new ExpiryObserver(metrics);
  const measure = async () => {
    const nowS = unixSeconds(clock);
    const { count, oldestAtS } = await measureDueWallets(postgres.db, nowS);
    observer.due.set(count);
    observer.oldest.set(nowS - (oldestAtS ?? nowS));
  };
  const sweep = async (signal?: AbortSignal) => {
    await measure();
    let expired = 0;
    const expireNext = async () => {
      const outcome = await transaction(postgres, (tx) => expireSome(tx, clock));
      expired += outcome.expired;
      observer.expired.inc(outcome.expired);
      return outcome.claimed;
    };
    await inBatches(WALLETS_PER_TRANSACTION, expireNext, signal);
    if (expired > 0) await measure();
    return expired;
  };
  const failureMessage = 'could not take back expired credits; will try again';
  const due = { dueAtMs: nextCreditExpiryMs, lookMs: LOOK_MS };
  return createSweepJob({ sweep, pollMs: POLL_MS, due, log, failureMessage, failures: observer.failures });
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
      help: 'Wallets with an expired credit that was not removed yet, at the last measurement.',
      registers,
    });
    this.oldest = new Gauge({
      name: 'tollgate_credit_expiry_oldest_seconds',
      help: 'Time since the oldest of these credits expired.',
      registers,
    });
    this.expired = new Counter({
      name: 'tollgate_credits_expired_total',
      help: 'Expired credits whose remaining amount was removed.',
      registers,
    });
    this.failures = new Counter({
      name: 'tollgate_credit_expiry_failures_total',
      help: 'Failed attempts to remove expired credits; they are repeated.',
      registers,
    });
  }
}
