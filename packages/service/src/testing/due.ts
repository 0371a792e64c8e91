import { type RawBuilder, sql } from 'kysely';
import type { Postgres } from '../platform/postgres/index.js';

/** Returns when work is due, as a watch finds it. */
export async function dueAtMs(
  postgres: Pick<Postgres, 'db'>,
  subquery: RawBuilder<number | null>,
): Promise<number | null> {
  const { rows } = await sql<{ due: number | null }>`select (${subquery}) as due`.execute(postgres.db);
  return rows[0]?.due ?? null;
}
