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
  const { db } = api.postgres;
  let isBusy = false;
  const pool = poolWith(api, statement, async () => {
    if (isBusy) return;
    isBusy = true;
    await happens();
    isBusy = false;
  });
  const postgres = { db, pool, close: async () => {} } satisfies Postgres;
  const deps = { postgres, clock: api.clock, metrics: createMetrics(), admission: everythingAdmitted };
  return createRealtimeLimits({ ...deps, catalog: createWorkerCatalog() }).leases;
}

/** Returns the database, and a promise that resolves after it has run a prepared statement of this name. */
export function untilRead(api: TestLimits, statement: string) {
  let onRead = () => {};
  const isRead = new Promise<void>((resolve) => {
    onRead = resolve;
  });
  return { postgres: { ...api.postgres, pool: poolWith(api, statement, onRead) }, isRead };
}

/** Returns the pool; something happens each time after it has run a prepared statement of this name. */
function poolWith(api: TestLimits, statement: string, happens: () => unknown): pg.Pool {
  const { pool } = api.postgres;
  const query = async (asked: pg.QueryConfig) => {
    const result = await pool.query(asked);
    if (asked.name === statement) await happens();
    return result;
  };
  return { query } as unknown as pg.Pool;
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
