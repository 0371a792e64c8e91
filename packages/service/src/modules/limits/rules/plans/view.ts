import type { PublicationStatus, UsageLimitPlan, UsageLimitPlanVersion } from '@tollgate/contract';
import { ruleView } from '../rule-view.js';
import type { PlanRow, VersionRow } from './store.js';

export function planView(plan: PlanRow): UsageLimitPlan {
  return {
    id: plan.id,
    tenant_id: plan.tenant_id,
    project_id: plan.project_id,
    name: plan.name,
    title: plan.title,
    description: plan.description ?? '',
    status: statusOf(plan.archived_at, plan.current_revision),
    current_revision: plan.current_revision,
    created_at: plan.created_at,
    updated_at: plan.updated_at,
  };
}

export function versionView(version: VersionRow): UsageLimitPlanVersion {
  return {
    id: version.id,
    tenant_id: version.tenant_id,
    project_id: version.project_id,
    plan_id: version.plan_id,
    name: version.name,
    revision: version.revision,
    status: statusOf(version.archived_at, version.revision),
    title: version.title,
    description: version.description ?? '',
    published_at: version.published_at_ms === null ? null : Math.floor(version.published_at_ms / 1_000),
    created_at: version.created_at,
    updated_at: version.updated_at,
    rules: version.rules.map((rule) => ({
      id: rule.id,
      plan_version_id: rule.plan_version_id,
      ...ruleView(rule),
    })),
  };
}

function statusOf(archivedAt: number | null, revision: number): PublicationStatus {
  if (archivedAt !== null) return 'archived';
  return revision > 0 ? 'published' : 'draft';
}
