import type { CreateSubjectRouteBody, SubjectRoute, WeekStart } from '@tollgate/contract';
import { EVERY } from '../subjects/subject.js';

/** A route as it is being written. */
export interface RouteDraft {
  readonly subject_type: string;
  readonly subject_id: string;
  readonly isOfEvery: boolean;
  readonly account_id: string;
  readonly usage_limit_plan_id: string;
  readonly timezone: string;
  readonly week_start: WeekStart;
  /** Unix seconds; undefined for when the route is made. */
  readonly usage_limit_anchor: number | undefined;
}

export const NEW_ROUTE: RouteDraft = {
  subject_type: '',
  subject_id: '',
  isOfEvery: false,
  account_id: '',
  usage_limit_plan_id: '',
  timezone: 'UTC',
  week_start: 'monday',
  usage_limit_anchor: undefined,
};

export const ROUTE_FIELDS = [
  'subject_type',
  'subject_id',
  'account_id',
  'usage_limit_plan_id',
  'timezone',
  'week_start',
  'usage_limit_anchor',
] as const satisfies readonly (keyof RouteDraft)[];

export function routeDraftOf(route: SubjectRoute): RouteDraft {
  const isOfEvery = route.subject_id === EVERY;
  return {
    ...{ isOfEvery, subject_type: route.subject_type, subject_id: isOfEvery ? '' : route.subject_id },
    account_id: route.account_id,
    usage_limit_plan_id: route.usage_limit_plan_id ?? '',
    timezone: route.timezone,
    week_start: route.week_start,
    usage_limit_anchor: route.usage_limit_anchor,
  };
}

/** What is sent; an account that is not named is opened. */
export function routeBodyOf(draft: RouteDraft): CreateSubjectRouteBody {
  const { usage_limit_anchor: anchor, timezone, week_start } = draft;
  const account = draft.account_id.trim();
  return {
    subject_type: draft.subject_type.trim(),
    subject_id: draft.isOfEvery ? EVERY : draft.subject_id,
    usage_limit_plan_id: draft.usage_limit_plan_id === '' ? null : draft.usage_limit_plan_id,
    timezone,
    week_start,
    ...(account === '' ? {} : { account_id: account }),
    ...(anchor === undefined ? {} : { usage_limit_anchor: anchor }),
  };
}

/** Whether windows start elsewhere from then on, and so begin to count anew. */
export function movesWindows(before: RouteDraft, after: RouteDraft): boolean {
  return (['timezone', 'week_start', 'usage_limit_anchor'] as const).some(
    (field) => before[field] !== after[field],
  );
}
