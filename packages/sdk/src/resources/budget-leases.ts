import type {
  BudgetLease,
  BudgetLeaseList,
  BudgetLeaseListQuery,
  CreatedBudgetLease,
  CreateLeaseBody,
} from '#contract';
import type { CallOptions, PathTransport, WriteOptions } from '../path-transport.js';
import { path } from '../transport.js';

/** Amounts that are held for a subject's work. Events name their lease in `x-usage-control.budget_lease_id`. */
export class BudgetLeases {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /**
   * Reserves the amount of every limit that counts it and of a prepaid wallet, or throws an ApiError: `limit_exceeded`,
   * `insufficient_funds`. A repeated request with the same key returns the same lease.
   */
  create(lease: CreateLeaseBody, options?: WriteOptions): Promise<CreatedBudgetLease> {
    return this.#transport.post('/budget-leases', lease, options);
  }

  /**
   * Releases what the lease still holds: close it once the events of the work are rated. One that has ended stays as it
   * is.
   */
  close(leaseId: string, options?: CallOptions): Promise<BudgetLease> {
    return this.#transport.post(path`/budget-leases/${leaseId}/close`, undefined, options);
  }

  get(leaseId: string, options?: CallOptions): Promise<BudgetLease> {
    return this.#transport.get(path`/budget-leases/${leaseId}`, {}, options);
  }

  /** Returns the leases of a subject, newest first. */
  list(query: BudgetLeaseListQuery, options?: CallOptions): Promise<BudgetLeaseList> {
    return this.#transport.get('/budget-leases', query, options);
  }
}
