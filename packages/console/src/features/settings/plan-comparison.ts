import { type CatalogPlan, type Entitlement, HISTORY_GRACE_DAYS, UNLIMITED } from '@tollgate/contract';
import { count } from '../../format.js';

/** One allowance of a plan, compared with the tenant's present one. */
export interface ComparedAllowance {
  readonly name: string;
  /** The allowance of the plan, as text. */
  readonly offered: string;
  /** The tenant's present allowance, as text. */
  readonly present: string;
  readonly change: 'less' | 'same' | 'more';
  /** The loss from buying the plan, as text; undefined unless the plan gives less. */
  readonly loss: string | undefined;
}

type Allowances = CatalogPlan | Entitlement;
type UsageKey = Exclude<keyof Entitlement['usage'], 'events_this_month'>;

/** Limits of things that exist: those beyond a smaller limit stay, and no new one can be added. */
const COUNTED = [
  ['max_development_projects', 'Development projects', 'development_projects'],
  ['max_release_projects', 'Release projects', 'release_projects'],
  ['max_subject_routes', 'Subject routes', 'subject_routes'],
  ['max_usage_controls', 'Limit rules', 'usage_controls'],
] as const satisfies readonly (readonly [keyof CatalogPlan & keyof Entitlement, string, UsageKey])[];

/** All allowances of a plan, compared with the tenant's present ones. */
export function comparePlan(present: Entitlement, plan: CatalogPlan): ComparedAllowance[] {
  const used = present.usage.events_this_month;
  return [
    compareNumber('Events per month', present.monthly_event_limit, plan.monthly_event_limit, () =>
      used >= plan.monthly_event_limit
        ? `You have already sent ${count(used)} this month. Further events would be refused.`
        : undefined,
    ),
    ...COUNTED.map(([limit, name, usage]) =>
      compareNumber(name, present[limit], plan[limit], () =>
        present.usage[usage] > plan[limit]
          ? `You have ${count(present.usage[usage])}. They stay, but you cannot add more.`
          : undefined,
      ),
    ),
    compareNumber(
      'Days of history',
      present.retention_days,
      plan.retention_days,
      () =>
        `Older usage is hidden immediately and deleted ${HISTORY_GRACE_DAYS} days later, unless you buy a plan with longer history before then.`,
    ),
    compareNumber('Maximum age of events in days', daysBack(present), daysBack(plan)),
    compareNumber('Maximum days in the future', daysAhead(present), daysAhead(plan)),
    compareSwitch(
      'Separate storage for new release projects',
      present.requires_release_project_usage_storage,
      plan.requires_release_project_usage_storage,
    ),
    ...compareFeatures(present.features, plan.features),
  ];
}

/** Everything lost by buying the plan, in one or two sentences each, including the remaining time of another plan. */
export function lossesOf(present: Entitlement, plan: CatalogPlan): string[] {
  const losses = comparePlan(present, plan).flatMap(({ loss }) => (loss === undefined ? [] : [loss]));
  const isReplaced = present.status === 'active' && present.plan_id !== plan.id;
  return isReplaced
    ? [...losses, `Your plan ${present.plan_id} ends immediately and its remaining time is lost.`]
    : losses;
}

/** Display name of a feature. */
export function featureName(name: string): string {
  return name === 'budgets' ? 'budget leases' : name;
}

function compareNumber(
  name: string,
  present: number,
  offered: number,
  consequence: () => string | undefined = () => undefined,
): ComparedAllowance {
  const texts = { name, present: limitText(present), offered: limitText(offered) };
  const change = isMore(present, offered) ? 'less' : isMore(offered, present) ? 'more' : 'same';
  if (change !== 'less') return { ...texts, change, loss: undefined };
  const loss = `${name}: ${texts.offered} instead of ${texts.present}.`;
  const after = consequence();
  return { ...texts, change, loss: after === undefined ? loss : `${loss} ${after}` };
}

function compareFeatures(
  present: Entitlement['features'],
  offered: CatalogPlan['features'],
): ComparedAllowance[] {
  const names = [...new Set([...Object.keys(present), ...Object.keys(offered)])].sort();
  return names.map((name) =>
    compareSwitch(capitalized(featureName(name)), present[name] === true, offered[name] === true),
  );
}

function compareSwitch(name: string, present: boolean, offered: boolean): ComparedAllowance {
  return {
    name,
    present: present ? 'included' : 'not included',
    offered: offered ? 'included' : 'not included',
    change: present === offered ? 'same' : present ? 'less' : 'more',
    loss:
      present && !offered
        ? `${name}: not included. Existing ones stay, but you cannot create new ones.`
        : undefined,
  };
}

function daysBack(allowances: Allowances): number {
  return -allowances.release_project_usage_storage_dynamic_partition_start;
}

function daysAhead(allowances: Allowances): number {
  return allowances.release_project_usage_storage_dynamic_partition_end;
}

function isMore(one: number, other: number): boolean {
  return other !== UNLIMITED && (one === UNLIMITED || one > other);
}

function limitText(limit: number): string {
  return limit === UNLIMITED ? 'unlimited' : count(limit);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
