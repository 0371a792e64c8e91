import type { BudgetLease, CreateLeaseBody } from '#contract';
import { ApiError } from './errors.js';
import type { CallOptions } from './path-transport.js';

/** The lease of some work, while the work runs. */
export interface WorkLease {
  /** For `x-usage-control.budget_lease_id` of the events of the work. */
  readonly id: string;
  /** Aborted when the lease has ended before the work: nothing is held for it any more. */
  readonly signal: AbortSignal;
}

export interface WithLeaseOptions extends CallOptions {
  /**
   * For how long the lease holds what is left after the work has succeeded, in seconds: until then its events should be
   * rated, so that no other work gets the same room. Default 5; 0 closes the lease at once.
   */
  readonly settleSeconds?: number;
}

/** The calls that the life of a lease needs. */
export interface LeaseCallsOfWork {
  create(lease: CreateLeaseBody, options?: CallOptions): Promise<Pick<BudgetLease, 'id'>>;
  renew(leaseId: string, ttlSeconds: number, options?: CallOptions): Promise<BudgetLease>;
  close(leaseId: string, options?: CallOptions): Promise<BudgetLease>;
}

const SETTLE_SECONDS = 5;
/** A lease is renewed this many times in its life: one failed attempt does not end it. */
const RENEWALS_PER_LIFE = 3;
const MS_PER_SECOND = 1_000;

/**
 * Creates a lease, runs the work, renews the lease while the work runs, and ends it afterwards, also when the work has
 * thrown. Errors of ending it are dropped: the lease expires by itself.
 */
export async function withLease<Result>(
  calls: LeaseCallsOfWork,
  body: CreateLeaseBody,
  work: (lease: WorkLease) => Promise<Result>,
  { settleSeconds = SETTLE_SECONDS, ...options }: WithLeaseOptions,
): Promise<Result> {
  const { id } = await calls.create(body, options);
  const lost = new AbortController();
  const everyMs = (body.ttl_seconds * MS_PER_SECOND) / RENEWALS_PER_LIFE;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let renewal: Promise<void> | undefined;
  const renewNext = () => {
    timer = setTimeout(() => {
      renewal = renew();
    }, everyMs);
  };
  const renew = async () => {
    try {
      await calls.renew(id, body.ttl_seconds, options);
    } catch (error) {
      if (!isOver && hasEnded(error)) lost.abort(error);
    }
    if (!isOver && !lost.signal.aborted) renewNext();
  };
  // A renewal after the end of the work would hold the rest for a whole life again.
  const stopRenewals = async () => {
    isOver = true;
    clearTimeout(timer);
    await renewal;
  };
  renewNext();
  try {
    const result = await work({ id, signal: lost.signal });
    await stopRenewals();
    if (!lost.signal.aborted) await settle(calls, id, settleSeconds);
    return result;
  } catch (error) {
    await stopRenewals();
    await settle(calls, id, 0);
    throw error;
  }
}

async function settle(calls: LeaseCallsOfWork, id: string, settleSeconds: number): Promise<void> {
  try {
    if (settleSeconds > 0) await calls.renew(id, settleSeconds);
    else await calls.close(id);
  } catch {
    // It expires by itself.
  }
}

/** Whether a renewal failed because there is no lease any more. Other failures may pass. */
function hasEnded(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'lease_not_active' || error.status === 404);
}
