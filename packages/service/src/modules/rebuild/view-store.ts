import { type ClickHouse, outdatedViews } from '../../platform/clickhouse/index.js';
import { type Postgres, tryAdvisoryLock } from '../../platform/postgres/index.js';
import { PROJECTOR_LOCK } from '../pipeline/index.js';

/**
 * Replaces the views of earlier releases if no projector works now, and if the user may. Otherwise they stay until a
 * later start: they only lack what makes some charts faster.
 *
 * @param suffixes of the tables of projects that have own ones
 */
export async function replaceViews(
  { postgres, clickhouse }: { readonly postgres: Postgres; readonly clickhouse: ClickHouse },
  suffixes: readonly string[],
): Promise<void> {
  const statements = await outdatedViews(clickhouse, suffixes);
  if (statements.length === 0) return;
  await tryAdvisoryLock(postgres, PROJECTOR_LOCK, async () => {
    await clickhouse.insertsEnded();
    try {
      for (const statement of statements) await clickhouse.command(statement);
    } catch (error) {
      if ((error as { type?: unknown }).type !== 'ACCESS_DENIED') throw error;
    }
  });
}
