import type { WeekStart } from '@tollgate/contract';
import { sql } from 'kysely';
import { groupBy } from '../../../kernel/maps.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { type ActiveLimitRule, type ActiveRoute, ActiveRules, type RouteChange } from './active-rules.js';

const RULE_FIELDS = sql`r.rule_no as "ruleNo", r.measure, r.of, r.selector_type as "selectorType",
  r.selector_value as "selectorValue", r.selector_values as "selectorValues", r.dimension_key as "dimensionKey",
  r.dimension_value as "dimensionValue", r.dimension_values as "dimensionValues",
  case r.measure when 'amount' then r.currency else '' end as currency, r.period`;
/** The columns that say what a rule selects. */
const selectionOf = (rule: string) =>
  sql.raw(
    [
      'selector_type',
      'selector_value',
      'selector_values',
      'dimension_key',
      'dimension_value',
      'dimension_values',
    ]
      .map((name) => `${rule}.${name}`)
      .join(', '),
  );

/**
 * Reads the rules by which subjects are counted now.
 *
 * @returns undefined when there are more than `routesMax` routes
 */
export async function readActiveRules(tx: Tx, routesMax: number): Promise<ActiveRules | undefined> {
  const routes = await readRoutes(tx, routesMax + 1);
  if (routes.length > routesMax) return undefined;
  return new ActiveRules({
    routes,
    rulesOfPlans: grouped(await readPlanRules(tx)),
    directLimits: grouped(await readDirectLimits(tx)),
    routeChanges: await readRouteChanges(tx),
  });
}

/** Reads the routes. A time in whole seconds counts as the end of its second. */
async function readRoutes(tx: Tx, routesMax: number): Promise<ActiveRoute[]> {
  const { rows } = await sql<Omit<ActiveRoute, 'settings'> & RouteSettings>`
    select tenant_id as "tenantId", project_id as "projectId", subject_type as "subjectType", subject_id as "subjectId",
      id as "routeId", usage_limit_plan_id as "planId",
      greatest(plan_bound_at_ms, (updated_at + 1) * 1000) as "sinceMs",
      timezone, week_start as "weekStart", usage_limit_anchor as "anchorS"
    from subject_routes order by project_id, id limit ${routesMax}
  `.execute(tx);
  return rows.map(({ timezone, weekStart, anchorS, ...route }) => ({
    ...route,
    settings: { timezone, weekStart, anchorS },
  }));
}

interface RouteSettings {
  readonly timezone: string;
  readonly weekStart: WeekStart;
  readonly anchorS: number;
}

type OwnedRule = ActiveLimitRule & { readonly ownerId: string };

/** Reads the rules of plans. A rule counts since the first of the newest consecutive revisions that select the same. */
async function readPlanRules(tx: Tx): Promise<OwnedRule[]> {
  const { rows } = await sql<OwnedRule>`
    select l.project_id || ' ' || l.id as "ownerId", ${RULE_FIELDS}, (
      select min(v.published_at_ms) from usage_limit_plan_versions v
      where v.project_id = l.project_id and v.plan_id = l.id and v.revision > coalesce((
        select max(o.revision) from usage_limit_plan_versions o
        left join usage_limit_plan_rules x
          on x.project_id = o.project_id and x.plan_version_id = o.id and x.rule_no = r.rule_no
        where o.project_id = l.project_id and o.plan_id = l.id and o.revision > 0
          and (${selectionOf('x')}) is distinct from (${selectionOf('r')})
      ), 0)
    ) as "sinceMs"
    from usage_limit_plans l
    join usage_limit_plan_versions now
      on now.project_id = l.project_id and now.plan_id = l.id and now.revision = l.current_revision
    join usage_limit_plan_rules r on r.project_id = now.project_id and r.plan_version_id = now.id
    where l.current_revision > 0 and r.measure <> 'concurrency'
      and exists (select from subject_routes s where s.project_id = l.project_id and s.usage_limit_plan_id = l.id)
  `.execute(tx);
  return rows;
}

async function readDirectLimits(tx: Tx): Promise<OwnedRule[]> {
  const { rows } = await sql<OwnedRule>`
    select r.project_id || ' ' || r.route_id as "ownerId", ${RULE_FIELDS}, (r.updated_at + 1) * 1000 as "sinceMs" from direct_limits r
    where r.measure <> 'concurrency'
  `.execute(tx);
  return rows;
}

/**
 * Reads from the audit log which subjects lost their route. For a route that was moved, the log has the new subject,
 * not the old one.
 */
async function readRouteChanges(tx: Tx): Promise<RouteChange[]> {
  const { rows } = await sql<RouteChange>`
    select project_id as "projectId", "subjectType", "subjectId", (max(created_at) + 1) * 1000 as "atMs"
    from audit_log
    cross join lateral (
      select change ->> 'subject_type' as "subjectType", change ->> 'subject_id' as "subjectId"
      where action = 'subject_route.delete'
      union all
      select null, null where action = 'subject_route.update'
        and coalesce(change ->> 'subject_type', change ->> 'subject_id') is not null
    ) subject
    where action in ('subject_route.delete', 'subject_route.update') and project_id is not null
    group by 1, 2, 3
  `.execute(tx);
  return rows;
}

function grouped(rules: readonly OwnedRule[]): ReadonlyMap<string, readonly ActiveLimitRule[]> {
  return groupBy(rules, ({ ownerId }) => ownerId);
}
