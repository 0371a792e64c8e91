import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import type { Logger } from '../../../platform/log/index.js';
import { Counter, Gauge, type Metrics } from '../../../platform/metrics/index.js';
import { type Postgres, type Tx, transaction } from '../../../platform/postgres/index.js';
import { repeat } from '../../../platform/wakeup.js';
import { WalletHolds } from '../../ledger/index.js';
import { giveBackToWallets } from './decisions.js';
import { ended, heldOf, walletOf } from './lease.js';
import { subtractReserved } from './reserved-store.js';
import { claimDueLeases, deleteEndedBefore, measureLeases, updateEnded } from './store.js';

/** Leases that one transaction ends: few, because it holds what they hold of. */
const LEASES_PER_TRANSACTION = 100;
/** How long a lease may hold what it has after its time. */
const POLL_MS = 500;
/** Time after its end for which a lease can be read, and events that name it get its status. */
export const ENDED_KEPT_S = 90 * 86_400;
/** Leases that one sweep deletes. */
const DELETED_PER_SWEEP = 1_000;

export interface LeaseExpiryDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
}

/**
 * Ends leases whose time has come, and deletes those that ended long ago. Any number may run on one database,
 * beside each other.
 */
export interface LeaseExpiryJob {
  /** Works until `signal` aborts, then ends after the transaction in hand; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Ends all that is due now and that no other job has in hand, and answers how many; deletes a number of
   * those that need not be kept. Rejects when the database does.
   */
  sweep(signal?: AbortSignal): Promise<number>;
}

export function createLeaseExpiryJob(deps: LeaseExpiryDeps): LeaseExpiryJob {
  return new ExpiryJob(deps);
}

class ExpiryJob implements LeaseExpiryJob {
  readonly #observer: ExpiryObserver;

  constructor(private readonly deps: LeaseExpiryDeps) {
    this.#observer = new ExpiryObserver(deps.metrics);
  }

  run(signal: AbortSignal): Promise<void> {
    return repeat(() => this.sweep(signal), signal, {
      pollMs: POLL_MS,
      onFailure: (err) => {
        this.#observer.failures.inc();
        this.deps.log.warn({ err }, 'budget leases could not be ended or deleted, which will be tried again');
      },
    });
  }

  async sweep(signal?: AbortSignal): Promise<number> {
    const { postgres, clock } = this.deps;
    await this.#measure();
    let total = 0;
    while (signal?.aborted !== true) {
      const count = await transaction(postgres, (tx) => expireSome(tx, clock));
      this.#observer.expired.inc(count);
      total += count;
      if (count < LEASES_PER_TRANSACTION) break;
    }
    if (total > 0) await this.#measure();
    const deleted = await deleteEndedBefore(
      postgres.db,
      unixSeconds(clock) - ENDED_KEPT_S,
      DELETED_PER_SWEEP,
    );
    this.#observer.deleted.inc(deleted);
    return total;
  }

  async #measure(): Promise<void> {
    const { postgres, clock } = this.deps;
    const nowS = unixSeconds(clock);
    const { active, due, oldestDueAtS } = await measureLeases(postgres.db, nowS);
    this.#observer.active.set(active);
    this.#observer.due.set(due);
    this.#observer.oldest.set(oldestDueAtS === null ? 0 : nowS - oldestDueAtS);
  }
}

async function expireSome(tx: Tx, clock: Clock): Promise<number> {
  const nowS = unixSeconds(clock);
  const due = await claimDueLeases(tx, nowS, LEASES_PER_TRANSACTION);
  if (due.length === 0) return 0;
  await subtractReserved(
    tx,
    due.flatMap(({ lease, projectNo }) => heldOf(lease, projectNo)),
  );
  const leases = due.map(({ lease }) => lease);
  const wallets = await WalletHolds.lock(
    tx,
    leases.flatMap((lease) => walletOf(lease) ?? []),
    clock,
  );
  for (const lease of leases) giveBackToWallets(wallets, lease);
  await wallets.write(tx);
  await updateEnded(
    tx,
    leases.map((lease) => ended(lease, nowS)),
  );
  return due.length;
}

class ExpiryObserver {
  readonly active: Gauge;
  readonly due: Gauge;
  readonly oldest: Gauge;
  readonly expired: Counter;
  readonly deleted: Counter;
  readonly failures: Counter;

  constructor(metrics: Metrics) {
    const registers = [metrics];
    this.active = new Gauge({
      name: 'tollgate_budget_leases_active',
      help: 'Budget leases of all projects that had not ended, when last looked at.',
      registers,
    });
    this.due = new Gauge({
      name: 'tollgate_budget_leases_due',
      help: 'Budget leases whose time had come and that still held something, when last looked at.',
      registers,
    });
    this.oldest = new Gauge({
      name: 'tollgate_budget_leases_oldest_due_seconds',
      help: 'For how long the oldest of them had been due.',
      registers,
    });
    this.expired = new Counter({
      name: 'tollgate_budget_leases_expired_total',
      help: 'Budget leases that were ended because their time had come.',
      registers,
    });
    this.deleted = new Counter({
      name: 'tollgate_budget_leases_deleted_total',
      help: 'Budget leases that were deleted because they had ended long ago.',
      registers,
    });
    this.failures = new Counter({
      name: 'tollgate_budget_lease_expiry_failures_total',
      help: 'Attempts to end or delete budget leases that failed and were tried again.',
      registers,
    });
  }
}
