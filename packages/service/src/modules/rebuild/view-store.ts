import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { areViewsHalfReplaced, type ClickHouse, outdatedViews } from '../../platform/clickhouse/index.js';
import { type Postgres, tryAdvisoryLock } from '../../platform/postgres/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';

/** While views are half replaced, no rows are inserted, so the lock of the projectors is asked for again. */
const TRIES_MAX = 20;
const TRY_MS = 500;

interface ViewStores {
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouse;
}

/**
 * Replaces the views of earlier releases if no projector works now, no insert must be repeated, all replicas can be
 * reached, and the user may. Otherwise they stay until a later start: they cost more, and counts of usage that is being
 * corrected are wrong for a moment.
 *
 * @param suffixes of the tables of projects that have own ones
 */
export async function replaceViews(stores: ViewStores, suffixes: readonly string[]): Promise<void> {
  const { clickhouse } = stores;
  for (let tries = 1; (await outdatedViews(clickhouse, suffixes)).length > 0; tries++) {
    const isTried = await tryAdvisoryLock(stores.postgres, PROJECTOR_LOCK, async (holder) => {
      // Rejects if the connection was lost while this process was frozen: projectors may work again.
      await replaceAlone(stores, suffixes, () => holder.query('select'));
      return true;
    });
    if (isTried || tries === TRIES_MAX || !(await areViewsHalfReplaced(clickhouse, async () => suffixes)))
      return;
    await delay(TRY_MS);
  }
}

async function replaceAlone(
  { postgres, clickhouse }: ViewStores,
  suffixes: readonly string[],
  confirmLock: () => Promise<unknown>,
): Promise<void> {
  await clickhouse.insertsEnded();
  // Nothing is inserted between half replaced views, so nothing that was begun by them is repeated.
  if ((await isInsertUnfinished(postgres)) && !(await areViewsHalfReplaced(clickhouse, async () => suffixes)))
    return;
  if (!(await clickhouse.reachesAll())) return;
  try {
    for (const statement of await outdatedViews(clickhouse, suffixes)) {
      await confirmLock();
      await clickhouse.command(statement);
    }
  } catch (error) {
    if ((error as { type?: unknown }).type !== 'ACCESS_DENIED') throw error;
  }
}

/** Whether rows of a group, of a tenant that arrives, or of a repair may be in some tables and not in others. */
async function isInsertUnfinished({ db }: Postgres): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from usage_batches where insert_group is not null)
      or exists (select from tenant_moves where state = 'arriving')
      or exists (select from projection_state where rebuild_since_ms is not null) as found
  `.execute(db);
  return rows[0]?.found === true;
}
