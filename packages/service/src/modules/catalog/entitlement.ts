import { type CatalogPlan, UNLIMITED } from '@tollgate/contract';

/** The limits of an entitlement; -1 means no limit. */
export interface EntitlementLimits {
  readonly monthlyEventLimit: number;
  readonly retentionDays: number;
  readonly maxDevelopmentProjects: number;
  readonly maxReleaseProjects: number;
  readonly maxSubjectRoutes: number;
  readonly maxUsageControls: number;
  readonly requiresReleaseProjectUsageStorage: boolean;
  /** The days from today in which `occurred_at` may lie: from the first, 0 or below, to the second, 0 or above. */
  readonly partitionStartDays: number;
  readonly partitionEndDays: number;
  readonly createHistoryPartition: boolean;
  /** A feature without an entry is off. */
  readonly features: Readonly<Record<string, boolean>>;
}

/** The entitlement of a tenant at one time, and its origin. */
export interface TenantEntitlement {
  readonly tenantId: string;
  /** `active` under a grant. */
  readonly status: 'active' | 'baseline';
  /** The plan of the grant; without one, the name of the baseline. */
  readonly planId: string;
  /** 0 without a grant. */
  readonly revision: number;
  /** Unix seconds; the end is exclusive. Null without a grant. */
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly limits: EntitlementLimits;
}

/** The plans of a tenant without a grant: everything, or no events. */
export const BASELINE_PLANS = ['unlimited', 'none'] as const;
export type BaselinePlan = (typeof BASELINE_PLANS)[number];

/** The entitlement of every tenant without a grant. */
export interface Baseline {
  readonly plan: BaselinePlan;
  /** How many days `occurred_at` may lie in the past and in the future. */
  readonly eventAgeDaysMax: number;
  readonly eventAheadDaysMax: number;
}

/**
 * Returns the limits of a tenant without a grant. `none` refuses events only: a tenant can set itself up before it buys
 * a plan.
 */
export function baselineLimits({ plan, eventAgeDaysMax, eventAheadDaysMax }: Baseline): EntitlementLimits {
  return {
    monthlyEventLimit: plan === 'none' ? 0 : UNLIMITED,
    retentionDays: UNLIMITED,
    maxDevelopmentProjects: UNLIMITED,
    maxReleaseProjects: UNLIMITED,
    maxSubjectRoutes: UNLIMITED,
    maxUsageControls: UNLIMITED,
    requiresReleaseProjectUsageStorage: false,
    partitionStartDays: -eventAgeDaysMax,
    partitionEndDays: eventAheadDaysMax,
    createHistoryPartition: false,
    features: { budgets: true },
  };
}

/** The limits that a plan grants. */
export function limitsOfPlan(plan: CatalogPlan): EntitlementLimits {
  return {
    monthlyEventLimit: plan.monthly_event_limit,
    retentionDays: plan.retention_days,
    maxDevelopmentProjects: plan.max_development_projects,
    maxReleaseProjects: plan.max_release_projects,
    maxSubjectRoutes: plan.max_subject_routes,
    maxUsageControls: plan.max_usage_controls,
    requiresReleaseProjectUsageStorage: plan.requires_release_project_usage_storage,
    partitionStartDays: plan.release_project_usage_storage_dynamic_partition_start,
    partitionEndDays: plan.release_project_usage_storage_dynamic_partition_end,
    createHistoryPartition: plan.release_project_usage_storage_create_history_partition,
    features: plan.features,
  };
}
