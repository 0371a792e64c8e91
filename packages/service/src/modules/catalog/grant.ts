import { type CatalogPlan, HISTORY_GRACE_DAYS, UNLIMITED } from '@tollgate/contract';
import { monthsLater } from '../../kernel/period.js';
import { DAY_S } from '../../kernel/timezone.js';
import { type Baseline, baselineLimits, type Entitlement, limitsOfPlan } from './entitlement.js';

/** A plan that a tenant was granted, for one calendar month. Times are Unix seconds. */
export interface PlanGrant {
  readonly tenantId: string;
  /** `grt_…` */
  readonly id: string;
  /** As it was bought. */
  readonly plan: CatalogPlan;
  readonly source: string;
  readonly startsAt: number;
  /** Exclusive, as granted. */
  readonly endsAt: number;
  /** When another plan took its place, before it had ended or begun; null when none did. */
  readonly endedAt: number | null;
  readonly createdAt: number;
}

/** When a new grant is in force, and which grants end with it. */
export interface GrantSchedule {
  readonly startsAt: number;
  readonly endsAt: number;
  /** Ids of grants of another plan, which end now: the one in force and those that were to follow it. */
  readonly replaces: readonly string[];
}

/** When the grant ends, or has ended; exclusive. Not after its start for one that never began. */
export function effectiveEnd({ endsAt, endedAt }: PlanGrant): number {
  return endedAt ?? endsAt;
}

/**
 * Where a new grant goes. One of the plan that the tenant has follows the last of its grants; one of another
 * plan starts at once and ends what there was.
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

/** The grant in force at a time, if any: at most one is. */
export function grantAt(grants: readonly PlanGrant[], atS: number): PlanGrant | undefined {
  return grants.find((grant) => grant.startsAt <= atS && atS < effectiveEnd(grant));
}

/** Time for which hidden history is kept; a longer plan bought in this time shows it again. */
export const HISTORY_GRACE_S = HISTORY_GRACE_DAYS * DAY_S;

/** How long a tenant's history is shown and kept, in days before today; -1 is for ever. */
export interface HistoryRetention {
  readonly shownDays: number;
  /** At least as long: the longest retention in force at any time within the last grace period. */
  readonly keptDays: number;
  /** End of the grace period of hidden history, in Unix seconds; null if there is none. */
  readonly graceEndsAt: number | null;
}

/**
 * A pure function of the grants, so that no code has to detect a downgrade when it happens.
 *
 * @param grants of the tenant, at least those that had not ended when the grace before `atS` began
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

/** What a tenant may do at a time. */
export function entitlementAt(
  tenantId: string,
  grants: readonly PlanGrant[],
  baseline: Baseline,
  atS: number,
): Entitlement {
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
