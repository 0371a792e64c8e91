import type { TenantDb } from '../../../platform/postgres/index.js';

/** Counts the subject routes of all projects of a tenant. */
export async function countSubjectRoutes(db: TenantDb): Promise<number> {
  const row = await db.row<{ total: number }>`
    select count(*) as total from subject_routes where ${db.isOwn()}`;
  return row?.total ?? 0;
}

/**
 * Counts the limits of all projects of a tenant: direct limits and the rules of plans. For a plan, the larger of its
 * newest revision and its draft counts, because one replaces the other. An archived plan counts as long as a route is
 * bound to it.
 */
export async function countUsageControls(db: TenantDb): Promise<number> {
  const row = await db.row<{ total: number }>`
    with versions as (
      select v.project_id, v.plan_id, count(*) as rule_count
      from projects project
      join usage_limit_plans plan on plan.project_id = project.id
      join usage_limit_plan_versions v
        on v.project_id = plan.project_id and v.plan_id = plan.id and v.revision in (0, plan.current_revision)
      join usage_limit_plan_rules rule on rule.project_id = v.project_id and rule.plan_version_id = v.id
      where ${db.isOwn('project')} and (plan.archived_at is null or exists (
        select from subject_routes route
        where route.project_id = plan.project_id and route.usage_limit_plan_id = plan.id
      ))
      group by v.project_id, v.plan_id, v.id
    ), plans as (
      select max(rule_count) as rule_count from versions group by project_id, plan_id
    )
    select (
      select count(*) from projects p join direct_limits d on d.project_id = p.id where ${db.isOwn('p')}
    ) + (select coalesce(sum(rule_count), 0) from plans)::bigint as total`;
  return row?.total ?? 0;
}
