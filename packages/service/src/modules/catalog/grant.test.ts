import type { CatalogPlan } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Baseline,
  baselineLimits,
  effectiveEnd,
  entitlementAt,
  grantAt,
  limitsOfPlan,
  type PlanGrant,
  scheduleGrant,
} from './grant.js';

const BASELINE: Baseline = { plan: 'unlimited', eventAgeDaysMax: 3_650, eventAheadDaysMax: 30 };

function planOf(id: string, revision = 1): CatalogPlan {
  return {
    id,
    revision,
    status: 'published',
    display_name: id,
    amount_minor: 1_900,
    currency: 'USD',
    period: 'month',
    monthly_event_limit: 1_000_000,
    retention_days: 90,
    max_development_projects: 3,
    max_release_projects: 1,
    max_subject_routes: 1_000,
    max_usage_controls: 50,
    requires_release_project_usage_storage: false,
    release_project_usage_storage_dynamic_partition_start: -90,
    release_project_usage_storage_dynamic_partition_end: 3,
    release_project_usage_storage_create_history_partition: false,
    features: { budgets: false },
  };
}

/** Returns all grants of a tenant after it bought plans at these times, as the store would keep them. */
function buy(purchases: readonly { readonly planId: string; readonly atS: number }[]): PlanGrant[] {
  const grants: PlanGrant[] = [];
  for (const [index, { planId, atS }] of purchases.entries()) {
    const { startsAt, endsAt, replaces } = scheduleGrant(grants, planId, atS);
    for (const [at, grant] of grants.entries()) {
      if (replaces.includes(grant.id)) grants[at] = { ...grant, endedAt: atS };
    }
    const id = `grt_${index}`;
    const plan = planOf(planId, index + 1);
    grants.push({
      tenantId: 'ten_1',
      id,
      plan,
      source: id,
      startsAt,
      endsAt,
      endedAt: null,
      createdAt: atS,
    });
  }
  return grants;
}

const seconds = (time: string) => Date.parse(time) / 1_000;
const text = (atS: number) => new Date(atS * 1_000).toISOString().replace('.000Z', 'Z');

describe('a grant', () => {
  it.each([
    ['2026-01-15T10:20:30Z', '2026-02-15T10:20:30Z'],
    ['2026-01-28T23:59:59Z', '2026-02-28T23:59:59Z'],
    ['2026-01-29T00:00:00Z', '2026-02-28T00:00:00Z'],
    ['2026-01-31T12:00:00Z', '2026-02-28T12:00:00Z'],
    ['2028-01-31T12:00:00Z', '2028-02-29T12:00:00Z'],
    ['2028-01-30T12:00:00Z', '2028-02-29T12:00:00Z'],
    ['2028-02-29T12:00:00Z', '2028-03-29T12:00:00Z'],
    ['2026-02-28T12:00:00Z', '2026-03-28T12:00:00Z'],
    ['2026-03-31T00:00:00Z', '2026-04-30T00:00:00Z'],
    ['2026-12-31T23:59:59Z', '2027-01-31T23:59:59Z'],
  ])('from %s ends at %s', (start, end) => {
    const [grant] = buy([{ planId: 'launch', atS: seconds(start) }]);
    expect([text(grant?.startsAt ?? 0), text(grant?.endsAt ?? 0)]).toEqual([start, end]);
  });

  it('of the same plan follows the last one, each a month from its own start', () => {
    const atS = seconds('2026-01-31T12:00:00Z');
    const grants = buy([
      { planId: 'launch', atS },
      { planId: 'launch', atS },
      { planId: 'launch', atS: atS + 86_400 },
    ]);
    expect(grants.map(({ startsAt, endsAt }) => [text(startsAt), text(endsAt)])).toEqual([
      ['2026-01-31T12:00:00Z', '2026-02-28T12:00:00Z'],
      ['2026-02-28T12:00:00Z', '2026-03-28T12:00:00Z'],
      ['2026-03-28T12:00:00Z', '2026-04-28T12:00:00Z'],
    ]);
  });

  it('of another plan starts at once, and ends the one in force and those that were to follow', () => {
    const atS = seconds('2026-03-10T00:00:00Z');
    const switchedAt = seconds('2026-03-20T00:00:00Z');
    const grants = buy([
      { planId: 'launch', atS },
      { planId: 'launch', atS },
      { planId: 'growth', atS: switchedAt },
    ]);
    expect(grants.map(({ endedAt }) => endedAt)).toEqual([switchedAt, switchedAt, null]);
    expect(grants[2]).toMatchObject({ startsAt: switchedAt, endsAt: seconds('2026-04-20T00:00:00Z') });
    const planAt = (time: number) => grantAt(grants, time)?.plan.id;
    expect([planAt(switchedAt - 1), planAt(switchedAt)]).toEqual(['launch', 'growth']);
    expect(planAt(seconds('2026-04-20T00:00:00Z'))).toBeUndefined();
  });

  it('starts at once when the one before has just ended', () => {
    const atS = seconds('2026-03-10T00:00:00Z');
    const endS = seconds('2026-04-10T00:00:00Z');
    const [, second] = buy([
      { planId: 'launch', atS },
      { planId: 'launch', atS: endS },
    ]);
    expect(second?.startsAt).toBe(endS);
  });
});

describe('the grants of a tenant', () => {
  const histories = fc
    .array(fc.record({ planId: fc.constantFrom('launch', 'growth', 'scale'), gapS: fc.nat(40 * 86_400) }), {
      minLength: 1,
      maxLength: 12,
    })
    .chain((steps) => fc.tuple(fc.constant(steps), fc.integer({ min: 1_700_000_000, max: 1_900_000_000 })))
    .map(([steps, startS]) => {
      let atS = startS;
      return steps.map(({ planId, gapS }) => {
        atS += gapS;
        return { planId, atS };
      });
    });

  it('never overlap, and leave a gap only where all had ended before the next was bought', () => {
    fc.assert(
      fc.property(histories, (purchases) => {
        const grants = buy(purchases)
          .filter((grant) => effectiveEnd(grant) > grant.startsAt)
          .sort((a, b) => a.startsAt - b.startsAt);
        for (const [index, grant] of grants.entries()) {
          const next = grants[index + 1];
          if (next === undefined) continue;
          expect(effectiveEnd(grant)).toBeLessThanOrEqual(next.startsAt);
          if (effectiveEnd(grant) < next.startsAt) expect(next.createdAt).toBe(next.startsAt);
        }
      }),
    );
  });

  it('give the plan that was bought last from the purchase on', () => {
    fc.assert(
      fc.property(histories, (purchases) => {
        for (const [index, { planId, atS }] of purchases.entries()) {
          const grants = buy(purchases.slice(0, index + 1));
          expect(grantAt(grants, atS)?.plan.id).toBe(planId);
        }
      }),
    );
  });

  it('each last a calendar month, unless another plan took its place', () => {
    fc.assert(
      fc.property(histories, (purchases) => {
        for (const grant of buy(purchases)) {
          const days = (grant.endsAt - grant.startsAt) / 86_400;
          expect([28, 29, 30, 31]).toContain(days);
          if (grant.endedAt !== null) expect(grant.endedAt).toBeLessThan(grant.endsAt);
        }
      }),
    );
  });
});

describe('the entitlement', () => {
  const atS = seconds('2026-03-10T00:00:00Z');
  const grants = buy([{ planId: 'launch', atS }]);

  it('is that of the grant from its first second to its last', () => {
    const endS = seconds('2026-04-10T00:00:00Z');
    const statusAt = (time: number) => entitlementAt('ten_1', grants, BASELINE, time).status;
    expect([atS - 1, atS, endS - 1, endS].map(statusAt)).toEqual([
      'baseline',
      'active',
      'active',
      'baseline',
    ]);
    expect(entitlementAt('ten_1', grants, BASELINE, atS)).toEqual({
      tenantId: 'ten_1',
      status: 'active',
      planId: 'launch',
      revision: 1,
      startsAt: atS,
      endsAt: endS,
      limits: limitsOfPlan(planOf('launch')),
    });
  });

  it('without a grant is the baseline', () => {
    expect(entitlementAt('ten_1', [], BASELINE, atS)).toEqual({
      tenantId: 'ten_1',
      status: 'baseline',
      planId: 'unlimited',
      revision: 0,
      startsAt: null,
      endsAt: null,
      limits: baselineLimits(BASELINE),
    });
    expect(entitlementAt('ten_1', [], { ...BASELINE, plan: 'none' }, atS)).toMatchObject({
      planId: 'none',
      limits: { monthlyEventLimit: 0, maxReleaseProjects: -1 },
    });
  });
});
