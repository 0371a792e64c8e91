import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { groupBy } from '../../../kernel/maps.js';
import { present } from '../../../kernel/present.js';
import type { Logger } from '../../../platform/log/index.js';
import { Counter, Gauge, type Metrics } from '../../../platform/metrics/index.js';
import { type Postgres, type Tx, transaction } from '../../../platform/postgres/index.js';
import { createSweepJob, inBatches, type SweepJob } from '../../../platform/sweep-job.js';
import { WalletHolds } from '../../ledger/index.js';
import { giveBackToWallets } from './decisions.js';
import { type Lease, parentIdOf, walletHoldsOf } from './lease.js';
import { LeaseChanges } from './lease-changes.js';
import { negated, subtractReserved } from './reserved-store.js';
import {
  claimDueLeases,
  type DueLease,
  deleteEndedBefore,
  lockFreeLeases,
  measureLeases,
  nextExpiryMs,
  updateLeases,
} from './store.js';

/** Upper bound of the leases that one transaction ends. Few, because it locks their rules and wallets meanwhile. */
const LEASES_PER_TRANSACTION = 100;
/** Upper bound of the time for which a lease still reserves its amount after it has expired. */
const LOOK_MS = 500;
/** Interval at which leases are measured and old ones deleted. */
const POLL_MS = 10_000;
/** For how long a lease can be read after its end, and events that name it get its status. */
export const ENDED_KEPT_S = 90 * 86_400;
/** Upper bound of the leases that one sweep deletes. */
const DELETED_PER_SWEEP = 1_000;

export interface LeaseExpiryDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
}

/**
 * Ends expired leases, and deletes those that ended long ago. A sweep ends all leases that are due and that no other
 * job has locked, and returns their number; it deletes a bounded number of old leases.
 */
export function createLeaseExpiryJob({ postgres, clock, log, metrics }: LeaseExpiryDeps): SweepJob {
  const observer = new ExpiryObserver(metrics);
  const measure = async () => {
    const nowS = unixSeconds(clock);
    const { active, due, oldestDueAtS } = await measureLeases(postgres.db, nowS);
    observer.active.set(active);
    observer.due.set(due);
    observer.oldest.set(nowS - (oldestDueAtS ?? nowS));
  };
  const sweep = async (signal?: AbortSignal) => {
    await measure();
    const expireNext = async () => {
      const count = await transaction(postgres, (tx) => expireSome(tx, clock));
      observer.expired.inc(count);
      return count;
    };
    const expired = await inBatches(LEASES_PER_TRANSACTION, expireNext, signal);
    if (expired > 0) await measure();
    const endedBefore = unixSeconds(clock) - ENDED_KEPT_S;
    observer.deleted.inc(await deleteEndedBefore(postgres.db, endedBefore, DELETED_PER_SWEEP));
    return expired;
  };
  const failureMessage = 'could not end or delete budget leases; will try again';
  const due = { dueAtMs: nextExpiryMs, lookMs: LOOK_MS };
  return createSweepJob({ sweep, pollMs: POLL_MS, due, log, failureMessage, failures: observer.failures });
}

async function expireSome(tx: Tx, clock: Clock): Promise<number> {
  const nowS = unixSeconds(clock);
  const { due, parents } = await claimWithParents(tx, nowS);
  if (due.length === 0) return 0;
  const projects = [...groupBy(due, ({ projectNo }) => projectNo)].map(([projectNo, ofProject]) => {
    const leases = new LeaseChanges(projectNo, [
      ...parents.filter(({ projectId }) => projectId === ofProject[0]?.lease.projectId),
      ...ofProject.map(({ lease }) => lease),
    ]);
    return { leases, released: ofProject.flatMap(({ lease: { id } }) => endOnce(leases, id, nowS)) };
  });
  await subtractReserved(
    tx,
    projects.flatMap(({ leases }) => leases.reserved.map(negated)),
  );
  const released = projects.flatMap((project) => project.released);
  const wallets = await WalletHolds.lock(tx, released.flatMap(walletHoldsOf), clock);
  for (const lease of released) giveBackToWallets(wallets, lease);
  await wallets.write(tx);
  await updateLeases(
    tx,
    projects.flatMap(({ leases }) => leases.changed),
  );
  return due.length;
}

/**
 * Claims due leases, and locks their parents, to which they give back. Nothing waits: a lease whose parent is locked by
 * another transaction is left for the next sweep.
 */
async function claimWithParents(
  tx: Tx,
  nowS: number,
): Promise<{ readonly due: readonly DueLease[]; readonly parents: readonly Lease[] }> {
  const claimed = await claimDueLeases(tx, nowS, LEASES_PER_TRANSACTION);
  const known = new Set(claimed.map(({ lease }) => lease.id));
  const missing = claimed.flatMap(({ lease }) => {
    const id = parentIdOf(lease);
    const { tenantId, projectId } = lease;
    return id === undefined || known.has(id) ? [] : { tenantId, projectId, id };
  });
  const parents = await lockFreeLeases(tx, missing);
  for (const { id } of parents) known.add(id);
  const due = claimed.filter(({ lease }) => {
    const id = parentIdOf(lease);
    return id === undefined || known.has(id);
  });
  return { due, parents };
}

/** Ends a due lease, unless its parent has ended it. Returns what `LeaseChanges.end` returns. */
function endOnce(leases: LeaseChanges, id: string, nowS: number): Lease[] {
  const lease = present(leases.get(id), 'a due lease');
  return lease.status === 'active' ? leases.end(lease, nowS) : [];
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
      help: 'Active budget leases of all projects, at the last measurement.',
      registers,
    });
    this.due = new Gauge({
      name: 'tollgate_budget_leases_due',
      help: 'Expired budget leases that still reserved an amount, at the last measurement.',
      registers,
    });
    this.oldest = new Gauge({
      name: 'tollgate_budget_leases_oldest_due_seconds',
      help: 'Time since the oldest of these leases expired.',
      registers,
    });
    this.expired = new Counter({
      name: 'tollgate_budget_leases_expired_total',
      help: 'Budget leases that were ended because they had expired.',
      registers,
    });
    this.deleted = new Counter({
      name: 'tollgate_budget_leases_deleted_total',
      help: 'Budget leases that were deleted because they had ended long ago.',
      registers,
    });
    this.failures = new Counter({
      name: 'tollgate_budget_lease_expiry_failures_total',
      help: 'Failed attempts to end or delete budget leases; they are repeated.',
      registers,
    });
  }
}
