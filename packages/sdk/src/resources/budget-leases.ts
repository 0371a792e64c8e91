import type {
  BudgetLease,
  BudgetLeaseList,
  BudgetLeaseListQuery,
  CreatedBudgetLease,
  CreateLeaseBody,
  RenewLeaseBody,
} from '#contract';
import type { CallOptions, PathTransport, WriteOptions } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';
import { type WithLeaseOptions, type WorkLease, withLease } from '../with-lease.js';

/** Amounts that are held for a subject's work. Events name their lease in `x-usage-control.budget_lease_id`. */
export class BudgetLeases {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /**
   * Reserves an amount, or several `holds`, of every limit that counts them and of prepaid wallets, or with
   * `parent_lease_id` of another lease. Otherwise throws an ApiError: `limit_exceeded`, `insufficient_funds`,
   * `lease_exceeded`. A repeated request with the same key returns the same lease.
   */
  create(lease: CreateLeaseBody, options?: WriteOptions): Promise<CreatedBudgetLease> {
    return this.#transport.post('/budget-leases', lease, options);
  }

  /**
   * Releases what the lease still holds: close it once the events of the work are rated. One that has ended stays as it
   * is. Leases that are a part of it end too.
   */
  close(leaseId: string, options?: CallOptions): Promise<BudgetLease> {
    return this.#transport.post(path`/budget-leases/${leaseId}/close`, undefined, options);
  }

  /** Lets a lease expire `ttlSeconds` from now on. Throws an ApiError `lease_not_active` if it has ended. */
  renew(leaseId: string, ttlSeconds: number, options?: CallOptions): Promise<BudgetLease> {
    const body: RenewLeaseBody = { ttl_seconds: ttlSeconds };
    return this.#transport.post(path`/budget-leases/${leaseId}/renew`, body, options);
  }

  /**
   * Runs some work with a lease of its own, and returns the result of the work. The lease is renewed while the work
   * runs, and ends afterwards, also when the work throws. Throws what `create` throws, before the work begins.
   */
  withLease<Result>(
    lease: CreateLeaseBody,
    work: (lease: WorkLease) => Promise<Result>,
    options: WithLeaseOptions = {},
  ): Promise<Result> {
    return withLease(this, lease, work, options);
  }

  get(leaseId: string, options?: CallOptions): Promise<BudgetLease> {
    return this.#transport.get(path`/budget-leases/${leaseId}`, {}, options);
  }

  /** Returns the leases of a subject, newest first. */
  list(query: BudgetLeaseListQuery, options?: CallOptions): Promise<BudgetLeaseList> {
    return this.#transport.get('/budget-leases', query, options);
  }

  /**
   * Returns the active leases of the tree of a lease, from the top down: each follows the lease that it is a part of.
   * The lease itself is among them even if it has ended.
   */
  tree(leaseId: string, page: PageOptions = {}, options?: CallOptions): Promise<BudgetLeaseList> {
    return this.#transport.get(path`/budget-leases/${leaseId}/tree`, page, options);
  }
}
