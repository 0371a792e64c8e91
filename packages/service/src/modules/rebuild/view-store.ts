import { sql } from 'kysely';
import { areViewsHalfReplaced, type ClickHouse, outdatedViews } from '../../platform/clickhouse/index.js';
import { type Postgres, tryAdvisoryLock } from '../../platform/postgres/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';

/**
 * Replaces the views of earlier releases if no projector works now, no insert must be repeated, and the user may.
 * Otherwise they stay until a later start: they cost more, and counts of usage that is being corrected are wrong for a
 * moment.
 *
 * @param suffixes of the tables of projects that have own ones
 */
export async function replaceViews(
  { postgres, clickhouse }: { readonly postgres: Postgres; readonly clickhouse: ClickHouse },
  suffixes: readonly string[],
): Promise<void> {
  const statements = await outdatedViews(clickhouse, suffixes);
  if (statements.length === 0) return;
  await tryAdvisoryLock(postgres, PROJECTOR_LOCK, async (holder) => {
    await clickhouse.insertsEnded();
    // Nothing is inserted between half replaced views, so nothing that was begun by them is repeated.
    if ((await isInsertUnfinished(postgres)) && !(await areViewsHalfReplaced(clickhouse, suffixes))) return;
    try {
      for (const statement of statements) {
        // Rejects if the connection was lost while this process was frozen: projectors may work again.
        await holder.query('select');
        await clickhouse.command(statement);
      }
    } catch (error) {
      if ((error as { type?: unknown }).type !== 'ACCESS_DENIED') throw error;
    }
  });
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
