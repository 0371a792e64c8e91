import type pg from 'pg';
import { vi } from 'vitest';
import { createMetrics } from '../../../platform/metrics/index.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { everythingAdmitted } from '../../../testing/admission.js';
import { createRealtimeLimits } from '../check/realtime.js';
import type { TestLimits } from '../check/realtime.testing.js';
import { createWorkerCatalog } from '../rules/index.js';
import type { Leases } from './leases.js';

/**
 * Returns the leases of another process, in which something happens each time after it has run a prepared statement of
 * this name.
 */
export function leasesOfNode(api: TestLimits, statement: string, happens: () => Promise<unknown>): Leases {
  const { pool, db } = api.postgres;
  let isBusy = false;
  const query = async (asked: { readonly name?: string }) => {
    const result = await pool.query(asked as pg.QueryConfig);
    if (asked.name !== statement || isBusy) return result;
    isBusy = true;
    await happens();
    isBusy = false;
    return result;
  };
  const postgres = { db, pool: { query } as unknown as pg.Pool, close: async () => {} } satisfies Postgres;
  const deps = { postgres, clock: api.clock, metrics: createMetrics(), admission: everythingAdmitted };
  return createRealtimeLimits({ ...deps, catalog: createWorkerCatalog() }).leases;
}

/** The names of the prepared statements that run meanwhile, and the first words of the others. */
export async function statementsOf(
  { postgres }: Pick<TestLimits, 'postgres'>,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const { Client } = postgres.pool as unknown as { readonly Client: typeof pg.Client };
  const spy = vi.spyOn(Client.prototype, 'query');
  try {
    await work();
    return spy.mock.calls.map(([query]) => {
      const { name, text = String(query) } = query as unknown as { name?: string; text?: string };
      return name ?? (text.trim().split(/\s/)[0] as string);
    });
  } finally {
    spy.mockRestore();
  }
}
