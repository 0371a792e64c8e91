import { sql } from 'kysely';
import type { Postgres } from '../../platform/postgres/index.js';

/** A dimension that the rollup of a project goes without. */
export interface RawOnlyDimension {
  readonly tenantId: string;
  readonly projectId: string;
  readonly name: string;
}

/** By project; one without any is absent. */
export async function rawOnlyDimensions(
  db: Postgres['db'],
  projectIds: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ projectId: string; names: string[] }>`
    select project_id as "projectId", array_agg(name order by name) as names
    from raw_only_dimensions where project_id = any(${projectIds}) group by project_id
  `.execute(db);
  return new Map(rows.map(({ projectId, names }) => [projectId, names]));
}

/** Committed when it returns. */
export async function addRawOnlyDimensions(
  db: Postgres['db'],
  dimensions: readonly RawOnlyDimension[],
): Promise<void> {
  await sql`
    insert into raw_only_dimensions (tenant_id, project_id, name)
    select * from unnest(
      ${dimensions.map(({ tenantId }) => tenantId)}::text[],
      ${dimensions.map(({ projectId }) => projectId)}::text[],
      ${dimensions.map(({ name }) => name)}::text[]
    ) on conflict do nothing
  `.execute(db);
}
