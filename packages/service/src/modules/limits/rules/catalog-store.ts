import { LIMIT_RAISES_KEPT_MAX, type WeekStart } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Db } from '../../../platform/postgres/index.js';
import { amountFromText } from '../../ledger/index.js';
import type { LimitCatalogSource, PlanRead } from './catalog.js';
import { compileRule, directAmounts, planAmounts } from './compile.js';
import { EVERY_SUBJECT, type PlanRef, type RouteRead, type SubjectRef } from './route-rules.js';
import type { CompiledRule } from './rule.js';
import type { RuleRow } from './rule-row.js';

/** Reads the catalog from PostgreSQL. */
export const catalogSource: LimitCatalogSource = { readRevisions, readRoutes, readPlans, readDirectLimits };

async function readRevisions(db: Db, projectIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('limit_revisions')
    .select(['project_id', 'revision'])
    .where('project_id', 'in', projectIds)
    .execute();
  return new Map(rows.map(({ project_id, revision }) => [project_id, revision]));
}

interface RouteRow {
  readonly project_id: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly id: string;
  readonly account_id: string | null;
  readonly account_external_id: string | null;
  readonly parent_type: string | null;
  readonly parent_id: string | null;
  readonly usage_limit_anchor: number;
  readonly timezone: string;
  readonly week_start: WeekStart;
  readonly plan_id: string | null;
  readonly plan_revision: number | null;
  readonly plan_bound_at_ms: number | null;
  readonly has_direct_limits: boolean;
  readonly raises:
    | readonly {
        readonly limit_key: string;
        readonly amount: string;
        readonly from_ms: number;
        readonly until_ms: number;
      }[]
    | null;
}

const IS_NAMED = sql`r.project_id = asked.project_id and r.subject_type = asked.subject_type
  and r.subject_id = asked.subject_id`;
/** The ids by which the route above a route may be found. Nothing without a parent. */
const PARENTS = sql`join lateral (values (r.parent_id), (${EVERY_SUBJECT})) as above (id) on r.parent_type is not null`;

/** Reads routes and, in the same statement, those above them. Routes without a parent cost no further look-up. */
async function readRoutes(db: Db, refs: readonly SubjectRef[]): Promise<RouteRead[]> {
  const { rows } = await sql<RouteRow>`
    with recursive found as materialized (
      select r.* from unnest(
        ${refs.map((ref) => ref.projectId)}::text[],
        ${refs.map((ref) => ref.subjectType)}::text[],
        ${refs.map((ref) => ref.subjectId)}::text[]
      ) as asked (project_id, subject_type, subject_id)
      join subject_routes r on ${IS_NAMED}
    ), above (project_id, subject_type, subject_id) as (
      select r.project_id, r.parent_type, above.id from found r ${PARENTS}
      union
      select r.project_id, r.parent_type, above.id from above asked join subject_routes r on ${IS_NAMED} ${PARENTS}
    ), routes as (
      select * from found
      union all
      select r.* from above asked join subject_routes r on ${IS_NAMED}
      where not exists (select from found where found.project_id = r.project_id and found.id = r.id)
    )
    select r.project_id, r.subject_type, r.subject_id, r.id, r.account_id, a.external_id as account_external_id, r.parent_type, r.parent_id,
      r.usage_limit_anchor, r.timezone, r.week_start, p.id as plan_id, p.current_revision as plan_revision, r.plan_bound_at_ms,
      exists (select from direct_limits d where d.project_id = r.project_id and d.route_id = r.id) as has_direct_limits,
      (
        select json_agg(json_build_object('limit_key', limit_key, 'amount', amount::text, 'from_ms', from_ms,
          'until_ms', coalesce(ended_at_ms, until_ms)))
        from (
          select * from limit_raises l where l.project_id = r.project_id and l.route_id = r.id
          order by l.id desc limit ${LIMIT_RAISES_KEPT_MAX}
        ) newest
      ) as raises
    from routes r
    left join accounts a on a.project_id = r.project_id and a.id = r.account_id
    left join usage_limit_plans p on p.project_id = r.project_id and p.id = r.usage_limit_plan_id
  `.execute(db);
  return rows.map((row) => ({
    projectId: row.project_id,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    routeId: row.id,
    account:
      row.account_id === null ? undefined : { id: row.account_id, externalId: row.account_external_id },
    parent:
      row.parent_type === null || row.parent_id === null
        ? undefined
        : { type: row.parent_type, id: row.parent_id },
    settings: { timezone: row.timezone, weekStart: row.week_start, anchorS: row.usage_limit_anchor },
    plan:
      row.plan_id === null
        ? undefined
        : {
            projectId: row.project_id,
            planId: row.plan_id,
            revision: row.plan_revision ?? 0,
            boundAtMs: row.plan_bound_at_ms ?? 0,
          },
    hasDirectLimits: row.has_direct_limits,
    raises: (row.raises ?? []).map((raise) => ({
      limitKey: raise.limit_key,
      amount: amountFromText(raise.amount),
      fromMs: raise.from_ms,
      untilMs: raise.until_ms,
    })),
  }));
}

type PlanRuleRow = RuleRow & {
  readonly project_id: string;
  readonly plan_id: string;
  readonly revision: number;
  readonly changes: readonly {
    readonly published_at_ms: number;
    readonly limit_amount: string;
    readonly succeeded_at_ms: number | null;
  }[];
};

/** Reads the newest published rules of plans, each with the revisions at which its amount changed. */
async function readPlans(db: Db, refs: readonly PlanRef[]): Promise<PlanRead[]> {
  const { rows } = await sql<PlanRuleRow>`
    with versions as (
      select v.project_id, v.plan_id, v.id, v.revision, v.published_at_ms,
        lead(v.published_at_ms) over of_plan as succeeded_at_ms
      from unnest(${refs.map((ref) => ref.projectId)}::text[], ${refs.map((ref) => ref.planId)}::text[])
        as asked (project_id, plan_id)
      join usage_limit_plan_versions v on v.project_id = asked.project_id and v.plan_id = asked.plan_id
      where v.revision > 0
      window of_plan as (partition by v.project_id, v.plan_id order by v.revision)
    ), amounts as (
      select r.rule_no, v.published_at_ms, r.limit_amount,
        lag(r.limit_amount) over of_rule as previous_amount, lag(v.succeeded_at_ms) over of_rule as succeeded_at_ms
      from versions v
      join usage_limit_plan_rules r on r.project_id = v.project_id and r.plan_version_id = v.id
      window of_rule as (partition by r.rule_no order by v.revision)
    ), changes as (
      select rule_no, json_agg(json_build_object(
        'published_at_ms', published_at_ms, 'limit_amount', limit_amount::text, 'succeeded_at_ms', succeeded_at_ms
      ) order by published_at_ms) as changes
      from amounts
      where previous_amount is distinct from limit_amount or succeeded_at_ms is distinct from published_at_ms
      group by rule_no
    )
    select r.*, c.changes, v.project_id, v.plan_id, v.revision
    from versions v
    left join usage_limit_plan_rules r on r.project_id = v.project_id and r.plan_version_id = v.id
    left join changes c on c.rule_no = r.rule_no
    where v.succeeded_at_ms is null
    order by r.position
  `.execute(db);
  const plans = new Map<string, { ref: PlanRef; rules: CompiledRule[] }>();
  for (const row of rows) {
    const plan = plans.get(row.plan_id) ?? {
      ref: { projectId: row.project_id, planId: row.plan_id, revision: row.revision },
      rules: [],
    };
    plans.set(row.plan_id, plan);
    // A plan without rules has one row, whose rule columns are null.
    if (row.changes !== null) plan.rules.push(compileRule(row, planAmounts(row.changes), row.plan_id));
  }
  return [...plans.values()].map(({ ref, rules }) => ({ ...ref, rules }));
}

type DirectLimitRow = RuleRow & {
  readonly route_id: string;
  readonly changes: Parameters<typeof directAmounts>[1];
};

async function readDirectLimits(db: Db, routes: readonly RouteRead[]): Promise<Map<string, CompiledRule[]>> {
  const { rows } = await sql<DirectLimitRow>`
    select d.*, (
      select json_agg(json_build_object(
        'changed_at_ms', a.changed_at_ms, 'rule_no', a.rule_no, 'limit_amount', a.limit_amount::text, 'effective', a.effective
      ) order by a.changed_at_ms)
      from direct_limit_amounts a where a.project_id = d.project_id and a.direct_limit_id = d.id
    ) as changes
    from unnest(
      ${routes.map(({ projectId }) => projectId)}::text[], ${routes.map(({ routeId }) => routeId)}::text[]
    ) as asked (project_id, route_id)
    join direct_limits d on d.project_id = asked.project_id and d.route_id = asked.route_id
    order by d.id
  `.execute(db);
  const byRoute = new Map<string, CompiledRule[]>();
  for (const row of rows) {
    const rules = byRoute.get(row.route_id) ?? [];
    byRoute.set(row.route_id, rules);
    rules.push(compileRule(row, directAmounts(row.rule_no, row.changes), null));
  }
  return byRoute;
}
