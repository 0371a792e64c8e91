import { sql } from 'kysely';
import type { Db } from '../../../platform/postgres/index.js';
import type { LimitOwner } from './owner.js';

/** Returns the names that plan rules (drafts included) or direct limits of the project have as `webhook_event`. */
export async function eventsOfRules(
  db: Db,
  { tenantId, projectId }: LimitOwner,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) as name
    where exists (
      select from usage_limit_plan_rules r
      where r.tenant_id = ${tenantId} and r.project_id = ${projectId} and r.webhook_event = name
    ) or exists (
      select from direct_limits d
      where d.tenant_id = ${tenantId} and d.project_id = ${projectId} and d.webhook_event = name
    )
  `.execute(db);
  return new Set(rows.map(({ name }) => name));
}
