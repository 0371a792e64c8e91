import type { CatalogPlan, Entitlement } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { comparePlan, lossesOf } from './plan-comparison.js';

const LIMITS = {
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
};
const LAUNCH: CatalogPlan = {
  ...LIMITS,
  id: 'launch',
  revision: 1,
  status: 'published',
  display_name: 'Launch',
  amount_minor: 1_900,
  currency: 'USD',
  period: 'month',
  features: { budgets: false },
};
const USAGE = {
  events_this_month: 5,
  development_projects: 1,
  release_projects: 0,
  subject_routes: 1,
  usage_controls: 3,
};
const ON_LAUNCH: Entitlement = {
  ...LIMITS,
  tenant_id: 'ten_1',
  plan_id: 'launch',
  revision: 1,
  status: 'active',
  starts_at: 0,
  ends_at: 1,
  features: { budgets: false },
  hidden_history_deleted_at: null,
  usage: USAGE,
};
const UNLIMITED: Entitlement = {
  ...ON_LAUNCH,
  plan_id: 'unlimited',
  status: 'baseline',
  monthly_event_limit: -1,
  retention_days: -1,
  max_development_projects: -1,
  max_release_projects: -1,
  max_subject_routes: -1,
  max_usage_controls: -1,
  release_project_usage_storage_dynamic_partition_start: -3_650,
  release_project_usage_storage_dynamic_partition_end: 30,
  features: { budgets: true },
};

describe('a plan next to what the tenant has', () => {
  it('takes nothing away where it gives the same', () => {
    expect(lossesOf(ON_LAUNCH, LAUNCH)).toEqual([]);
    expect(new Set(comparePlan(ON_LAUNCH, LAUNCH).map(({ change }) => change))).toEqual(new Set(['same']));
  });

  it('names everything that it takes away, and what comes of it', () => {
    const usage = { ...USAGE, events_this_month: 1_000_000, subject_routes: 1_200 };
    expect(lossesOf({ ...UNLIMITED, usage }, LAUNCH)).toEqual([
      'Events per month: 1,000,000 instead of unlimited. You have already sent 1,000,000 this month. Further events would be refused.',
      'Development projects: 3 instead of unlimited.',
      'Release projects: 1 instead of unlimited.',
      'Subject routes: 1,000 instead of unlimited. You have 1,200. They stay, but you cannot add more.',
      'Limit rules: 50 instead of unlimited.',
      'Days of history: 90 instead of unlimited. Older usage is hidden immediately and deleted 30 days later, unless you buy a plan with longer history before then.',
      'Maximum age of events in days: 90 instead of 3,650.',
      'Maximum days in the future: 3 instead of 30.',
      'Budget leases: not included. Existing ones stay, but you cannot create new ones.',
    ]);
  });

  it('marks what it gives in addition, and counts no gain as a loss', () => {
    const more: CatalogPlan = {
      ...LAUNCH,
      id: 'scale',
      max_subject_routes: -1,
      retention_days: 730,
      requires_release_project_usage_storage: true,
      features: { budgets: true, exports: true },
    };
    const gains = comparePlan(ON_LAUNCH, more).filter(({ change }) => change === 'more');
    expect(gains.map(({ name, offered }) => [name, offered])).toEqual([
      ['Subject routes', 'unlimited'],
      ['Days of history', '730'],
      ['Separate storage for new release projects', 'included'],
      ['Budget leases', 'included'],
      ['Exports', 'included'],
    ]);
    expect(lossesOf(ON_LAUNCH, more)).toEqual([
      'Your plan launch ends immediately and its remaining time is lost.',
    ]);
  });
});
