import type { CatalogPlan } from '@tollgate/contract';
import { sql } from 'kysely';
import { type Db, lockUntilCommit, type Tx } from '../../platform/postgres/index.js';

const COLUMNS = sql`id, revision, 'published' as status, display_name, amount_minor, currency, period, monthly_event_limit,
  retention_days, max_development_projects, max_release_projects, max_subject_routes, max_usage_controls,
  requires_release_project_usage_storage, release_project_usage_storage_dynamic_partition_start,
  release_project_usage_storage_dynamic_partition_end, release_project_usage_storage_create_history_partition, features`;

/** Returns the newest revision of every plan, the cheapest first; plans without a price are not sold and come last. */
export async function newestPlans(db: Db): Promise<CatalogPlan[]> {
  const { rows } = await sql<CatalogPlan>`
    select * from (select distinct on (id) ${COLUMNS} from catalog_plans order by id, revision desc) as newest
    order by amount_minor = 0, amount_minor, id
  `.execute(db);
  return rows;
}

/** Returns the newest revision of one plan. */
export async function newestPlan(db: Db, planId: string): Promise<CatalogPlan | undefined> {
  const { rows } = await sql<CatalogPlan>`
    select ${COLUMNS} from catalog_plans where id = ${planId} order by revision desc limit 1
  `.execute(db);
  return rows[0];
}

/** Locks the catalog until `tx` ends, so that revisions follow each other without a gap. */
export async function lockCatalog(tx: Tx): Promise<void> {
  await lockUntilCommit(tx, 'tollgate/catalog');
}

/** Inserts a revision. The caller holds the catalog's lock. */
export async function insertPlan(tx: Tx, { status, ...plan }: CatalogPlan, atS: number): Promise<void> {
  const row = { ...plan, features: JSON.stringify(plan.features), created_at: atS };
  await tx.insertInto('catalog_plans').values(row).execute();
}
