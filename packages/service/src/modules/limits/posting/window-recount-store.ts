import { sql } from 'kysely';
import type { Tx } from '../../../platform/postgres/index.js';

/** A window that usage has opened, with the rule that has counted it from the first event on. */
export interface CountedWindow {
  readonly tenantId: string;
  readonly projectId: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly ruleNo: number;
  readonly startS: number;
  readonly endS: number | null;
  /** A decimal. */
  readonly used: string;
  /** Unix milliseconds: what was processed before has not been counted by this rule. */
  readonly sinceMs: number;
  readonly measure: 'amount' | 'quantity';
  readonly selectorType: 'all' | 'metric' | 'metric_prefix';
  readonly selectorValue: string;
  readonly dimensionKey: string | null;
  readonly dimensionValue: string | null;
  readonly currency: string;
}

/**
 * The newest windows, up to `windowsMax`, that can be recounted: those that opened after everything which decides what they count
 * had last changed. That is their rule, its plan or direct limit, the subject's route, and any deletion of a route, after which
 * another may have taken its place.
 */
export async function readCountedWindows(tx: Tx, windowsMax: number): Promise<CountedWindow[]> {
  const { rows } = await sql<CountedWindow>`
    with deletions as (
      select tenant_id, project_id, max(created_at) as at from audit_log where action = 'subject_route.delete' group by 1, 2
    ), newest as (
      select * from limit_windows order by window_start desc, project_no, rule_no, subject_type, subject_id limit ${windowsMax}
    )
    select p.tenant_id as "tenantId", p.id as "projectId", w.subject_type as "subjectType", w.subject_id as "subjectId",
      w.rule_no as "ruleNo", w.window_start as "startS", w.window_end as "endS", w.used::text as used, s.since_ms as "sinceMs",
      rule.measure, rule.selector_type as "selectorType", rule.selector_value as "selectorValue",
      rule.dimension_key as "dimensionKey", rule.dimension_value as "dimensionValue", rule.currency
    from newest w
    join projects p on p.no = w.project_no
    join lateral (
      select r.* from subject_routes r where r.project_id = p.id and r.subject_type = w.subject_type
        and r.subject_id in (w.subject_id, '*')
      order by r.subject_id = '*' limit 1
    ) route on true
    join lateral (
      select r.measure, r.selector_type, r.selector_value, r.dimension_key, r.dimension_value, r.currency,
        greatest(v.published_at_ms, route.plan_bound_at_ms) as since_ms
      from usage_limit_plans l
      join usage_limit_plan_versions v on v.project_id = l.project_id and v.plan_id = l.id and v.revision = l.current_revision
      join usage_limit_plan_rules r on r.project_id = v.project_id and r.plan_version_id = v.id
      where l.project_id = p.id and l.id = route.usage_limit_plan_id and r.rule_no = w.rule_no
      union all
      select d.measure, d.selector_type, d.selector_value, d.dimension_key, d.dimension_value, d.currency,
        (d.updated_at + 1) * 1000
      from direct_limits d
      where d.project_id = p.id and d.route_id = route.id and d.rule_no = w.rule_no
    ) rule on true
    left join deletions d on d.tenant_id = p.tenant_id and d.project_id = p.id
    cross join lateral (
      select greatest(rule.since_ms, (route.updated_at + 1) * 1000, (d.at + 1) * 1000) as since_ms
    ) s
    where w.opened_at_ms >= s.since_ms
    order by p.id, w.rule_no, w.window_start, s.since_ms, w.subject_type, w.subject_id
  `.execute(tx);
  return rows;
}
