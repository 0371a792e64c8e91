import { DomainError } from '../../kernel/errors.js';
import type { Logger } from '../../platform/log/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { createSweepJob, type SweepJob } from '../../platform/sweep-job.js';
import { listMoves } from './state-store.js';

/** Events may still be accepted for this time after a drain began. PostgreSQL refuses those of a frozen tenant. */
const LOOK_MS = 250;
const RETRY_AFTER_S = 2;

/** Knows the tenants whose events this cell refuses. */
export class TenantGate {
  readonly #postgres: Pick<Postgres, 'db'>;
  #closed: ReadonlySet<string> = new Set();

  constructor(postgres: Pick<Postgres, 'db'>) {
    this.#postgres = postgres;
  }

  /** Returns the error for requests of the tenant: `tenant_moving`, if the cell refuses its events. */
  refusalOf(tenantId: string): DomainError | undefined {
    if (!this.#closed.has(tenantId)) return undefined;
    return new DomainError('tenant_moving', { retryAfterS: RETRY_AFTER_S });
  }

  /** Reads the moves of this cell. */
  async refresh(): Promise<void> {
    const moves = await listMoves(this.#postgres.db);
    this.#closed = new Set(moves.filter(({ state }) => state !== 'copying').map(({ tenantId }) => tenantId));
  }

  /** Returns the job that refreshes the gate. */
  job(log: Pick<Logger, 'warn'>): SweepJob {
    return createSweepJob({
      sweep: async () => {
        await this.refresh();
        return 0;
      },
      pollMs: LOOK_MS,
      log,
      failureMessage: 'the tenants that are moving could not be read; will try again',
    });
  }
}
