import { sql } from 'kysely';
import { groupBy } from '../../kernel/maps.js';
import type { Db } from '../../platform/postgres/index.js';

/** A dimension that a project's rollup lacks. */
export interface ExcludedDimension {
  readonly tenantId: string;
  readonly projectId: string;
  readonly name: string;
}

/** A committed excluded dimension. */
export interface KnownExclusion {
  readonly name: string;
  /** Time since it was added, by the clock of the database alone. */
  readonly ageMs: number;
}

/** Returns excluded dimensions by project; a project without any is absent. */
export async function readExcludedDimensions(
  db: Db,
  projectIds: readonly string[],
): Promise<Map<string, KnownExclusion[]>> {
  const { rows } = await sql<{ projectId: string; name: string; ageMs: number }>`
    select project_id as "projectId", name,
      (extract(epoch from clock_timestamp()) * 1000)::bigint - added_at_ms as "ageMs"
    from raw_only_dimensions where project_id = any(${projectIds}) order by project_id, name
  `.execute(db);
  return groupBy(rows, ({ projectId }) => projectId);
}

/** Adds dimensions; they are committed when it returns. */
export async function addExcludedDimensions(db: Db, dimensions: readonly ExcludedDimension[]): Promise<void> {
  await sql`
    insert into raw_only_dimensions (tenant_id, project_id, name)
    select * from unnest(
      ${dimensions.map(({ tenantId }) => tenantId)}::text[],
      ${dimensions.map(({ projectId }) => projectId)}::text[],
      ${dimensions.map(({ name }) => name)}::text[]
    ) on conflict do nothing
  `.execute(db);
}
