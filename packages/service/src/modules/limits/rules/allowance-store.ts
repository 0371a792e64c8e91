import { sql } from 'kysely';
import type { Db } from '../../../platform/postgres/index.js';

/** Counts the subject routes of all projects of a tenant. */
export async function countSubjectRoutes(db: Db, tenantId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from subject_routes where tenant_id = ${tenantId}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * Counts the limits of all projects of a tenant: direct limits and the rules of plans. For a plan, the larger of its
 * newest revision and its draft counts, because one replaces the other. An archived plan counts as long as a route is
 * bound to it.
 */
export async function countUsageControls(db: Db, tenantId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    with versions as (
      select v.project_id, v.plan_id, count(*) as rule_count
      from projects project
      join usage_limit_plans plan on plan.project_id = project.id
      join usage_limit_plan_versions v
        on v.project_id = plan.project_id and v.plan_id = plan.id and v.revision in (0, plan.current_revision)
      join usage_limit_plan_rules rule on rule.project_id = v.project_id and rule.plan_version_id = v.id
      where project.tenant_id = ${tenantId} and (plan.archived_at is null or exists (
        select from subject_routes route
        where route.project_id = plan.project_id and route.usage_limit_plan_id = plan.id
      ))
      group by v.project_id, v.plan_id, v.id
    ), plans as (
      select max(rule_count) as rule_count from versions group by project_id, plan_id
    )
    select (
      select count(*) from projects p join direct_limits d on d.project_id = p.id where p.tenant_id = ${tenantId}
    ) + (select coalesce(sum(rule_count), 0) from plans)::bigint as total
  `.execute(db);
  return rows[0]?.total ?? 0;
}
