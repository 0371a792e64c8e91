import type { Entitlement } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { utcMonthAt } from '../../kernel/period.js';
import { type Postgres, TenantDb } from '../../platform/postgres/index.js';
import { usedEvents } from '../quotas/index.js';
import { hasHiddenUsage } from '../storage/index.js';
import { countProjects } from '../tenancy/index.js';
import type { Entitlements } from './entitlements.js';
import type { TenantEntitlement } from './grant.js';

type Count = (db: TenantDb) => Promise<number>;

export interface OverviewDeps {
  readonly postgres: Pick<Postgres, 'db'>;
  readonly clock: Clock;
  readonly entitlements: Pick<Entitlements, 'current' | 'historyRetention'>;
  /** Counts, for all projects of a tenant, things that the plan limits and other modules store. */
  readonly countSubjectRoutes: Count;
  readonly countUsageControls: Count;
}

/** Returns a tenant's entitlement, with how much of it is used. */
export async function entitlementOverview(deps: OverviewDeps, tenantId: string): Promise<Entitlement> {
  const own = new TenantDb(deps.postgres.db, tenantId);
  const { startS } = utcMonthAt(unixSeconds(deps.clock));
  const [entitlement, retention, events, developmentProjects, releaseProjects, subjectRoutes, usageControls] =
    await Promise.all([
      deps.entitlements.current(tenantId),
      deps.entitlements.historyRetention(tenantId),
      usedEvents(own, startS),
      countProjects(own, 'development'),
      countProjects(own, 'release'),
      deps.countSubjectRoutes(own),
      deps.countUsageControls(own),
    ]);
  const { graceEndsAt } = retention;
  return {
    ...viewOf(entitlement),
    hidden_history_deleted_at: graceEndsAt !== null && (await hasHiddenUsage(own)) ? graceEndsAt : null,
    usage: {
      events_this_month: events,
      development_projects: developmentProjects,
      release_projects: releaseProjects,
      subject_routes: subjectRoutes,
      usage_controls: usageControls,
    },
  };
}

function viewOf({
  limits,
  ...entitlement
}: TenantEntitlement): Omit<Entitlement, 'usage' | 'hidden_history_deleted_at'> {
  return {
    tenant_id: entitlement.tenantId,
    plan_id: entitlement.planId,
    revision: entitlement.revision,
    status: entitlement.status,
    starts_at: entitlement.startsAt,
    ends_at: entitlement.endsAt,
    monthly_event_limit: limits.monthlyEventLimit,
    retention_days: limits.retentionDays,
    max_development_projects: limits.maxDevelopmentProjects,
    max_release_projects: limits.maxReleaseProjects,
    max_subject_routes: limits.maxSubjectRoutes,
    max_usage_controls: limits.maxUsageControls,
    requires_release_project_usage_storage: limits.requiresReleaseProjectUsageStorage,
    release_project_usage_storage_dynamic_partition_start: limits.partitionStartDays,
    release_project_usage_storage_dynamic_partition_end: limits.partitionEndDays,
    release_project_usage_storage_create_history_partition: limits.createHistoryPartition,
    features: { ...limits.features },
  };
}
