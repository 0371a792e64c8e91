import { type CatalogPlan, HISTORY_GRACE_DAYS, UNLIMITED } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import { monthsLater } from '../../kernel/period.js';

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

/** A plan that was granted to a tenant for one calendar month. Times are Unix seconds. */
export interface PlanGrant {
  readonly tenantId: string;
  /** `grt_…` */
  readonly id: string;
  /** The plan as it was bought. */
  readonly plan: CatalogPlan;
  readonly source: string;
  readonly startsAt: number;
  /** Exclusive, as granted. */
  readonly endsAt: number;
  /** When another plan replaced it, before its end or even its start; null when none did. */
  readonly endedAt: number | null;
  readonly createdAt: number;
}

/** When a new grant starts, and which grants it ends. */
export interface GrantSchedule {
  readonly startsAt: number;
  readonly endsAt: number;
  /** Ids of grants of another plan, which end now: the active one and those that were to follow it. */
  readonly replaces: readonly string[];
}

/** Returns when the grant ends or has ended; exclusive. A grant that never began ends at its start or before. */
export function effectiveEnd({ endsAt, endedAt }: PlanGrant): number {
  return endedAt ?? endsAt;
}

/**
 * Returns where a new grant goes. A grant of the tenant's current plan follows the last of its grants; one of another
 * plan starts at once and ends the others.
 *
 * @param grants of the tenant, at least those that have not ended
 */
export function scheduleGrant(grants: readonly PlanGrant[], planId: string, atS: number): GrantSchedule {
  const open = grants.filter((grant) => effectiveEnd(grant) > atS);
  const others = open.filter(({ plan }) => plan.id !== planId);
  const startsAt = Math.max(
    atS,
    ...open.filter(({ plan }) => plan.id === planId).map((grant) => effectiveEnd(grant)),
  );
  return { startsAt, endsAt: monthsLater(startsAt, 1), replaces: others.map(({ id }) => id) };
}

/** Returns the grant that is active at a time, if any; there is at most one. */
export function grantAt(grants: readonly PlanGrant[], atS: number): PlanGrant | undefined {
  return grants.find((grant) => grant.startsAt <= atS && atS < effectiveEnd(grant));
}

/** For how long hidden history is kept. A plan with a longer retention, bought in this time, shows it again. */
export const HISTORY_GRACE_S = HISTORY_GRACE_DAYS * DAY_S;

/** For how long a tenant's history is shown and kept, in days before today; -1 means for ever. */
export interface HistoryRetention {
  readonly shownDays: number;
  /** At least `shownDays`: the longest retention at any time within the last grace period. */
  readonly keptDays: number;
  /** End of the grace period of hidden history, in Unix seconds; null if there is none. */
  readonly graceEndsAt: number | null;
}

/**
 * Computes the retention from the grants alone, so that no code has to notice a downgrade when it happens.
 *
 * @param grants of the tenant, at least those that had not ended when the grace period before `atS` began
 */
export function historyRetention(
  grants: readonly PlanGrant[],
  baseline: Baseline,
  atS: number,
): HistoryRetention {
  const fromS = atS - HISTORY_GRACE_S;
  const shownDays = entitlementAt('', grants, baseline, atS).limits.retentionDays;
  // Retention changes only where a grant starts or ends.
  const changes = grants
    .flatMap((grant) => [grant.startsAt, effectiveEnd(grant)])
    .filter((time) => time > fromS && time <= atS);
  const times = [...new Set([fromS, ...changes])].sort((a, b) => a - b);
  let keptDays = shownDays;
  let graceEndsAt: number | null = null;
  for (const [index, time] of times.entries()) {
    const { retentionDays } = entitlementAt('', grants, baseline, time).limits;
    if (isLonger(retentionDays, shownDays)) graceEndsAt = (times[index + 1] ?? atS) + HISTORY_GRACE_S;
    if (isLonger(retentionDays, keptDays)) keptDays = retentionDays;
  }
  return { shownDays, keptDays, graceEndsAt };
}

function isLonger(days: number, than: number): boolean {
  return than !== UNLIMITED && (days === UNLIMITED || days > than);
}

/** Returns a tenant's entitlement at a time. */
export function entitlementAt(
  tenantId: string,
  grants: readonly PlanGrant[],
  baseline: Baseline,
  atS: number,
): TenantEntitlement {
  const grant = grantAt(grants, atS);
  if (grant === undefined) {
    return {
      tenantId,
      status: 'baseline',
      planId: baseline.plan,
      revision: 0,
      startsAt: null,
      endsAt: null,
      limits: baselineLimits(baseline),
    };
  }
  const { plan, startsAt } = grant;
  return {
    tenantId,
    status: 'active',
    planId: plan.id,
    revision: plan.revision,
    startsAt,
    endsAt: effectiveEnd(grant),
    limits: limitsOfPlan(plan),
  };
}
