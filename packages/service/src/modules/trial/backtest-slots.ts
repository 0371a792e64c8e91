import { DomainError } from '../../kernel/errors.js';

/** Upper bound of backtests in one process, including those that wait for a thread. */
export interface BacktestSlotBounds {
  readonly perTenantMax: number;
  readonly totalMax: number;
}

const BUSY_RETRY_S = 5;

/** Counts backtests by tenant. */
export class BacktestSlots {
  readonly #bounds: BacktestSlotBounds;
  readonly #byTenant = new Map<string, number>();
  #total = 0;

  constructor(bounds: BacktestSlotBounds) {
    this.#bounds = bounds;
  }

  /**
   * Takes a slot.
   *
   * @returns a function that releases it
   * @throws DomainError `server_busy` when the tenant, or all tenants together, have the maximum
   */
  take(tenantId: string): () => void {
    const { perTenantMax, totalMax } = this.#bounds;
    const ofTenant = this.#byTenant.get(tenantId) ?? 0;
    if (ofTenant >= perTenantMax) {
      throw busy(`${ofTenant} backtests of this tenant run or wait on this node, which is the maximum.`);
    }
    if (this.#total >= totalMax) {
      throw busy(`${this.#total} backtests run or wait on this node, which is the maximum.`);
    }
    this.#byTenant.set(tenantId, ofTenant + 1);
    this.#total += 1;
    return () => this.#giveBack(tenantId);
  }

  #giveBack(tenantId: string): void {
    const left = (this.#byTenant.get(tenantId) ?? 1) - 1;
    this.#total -= 1;
    if (left === 0) this.#byTenant.delete(tenantId);
    else this.#byTenant.set(tenantId, left);
  }
}

function busy(message: string): DomainError {
  return new DomainError('server_busy', {
    message: `${message} Try again later.`,
    retryAfterS: BUSY_RETRY_S,
  });
}
