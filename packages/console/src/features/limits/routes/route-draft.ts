import type { CreateSubjectRouteBody, SubjectRoute, WeekStart } from '@tollgate/contract';
import { EVERY } from '../subjects/subject.js';

/** The state of the route form. */
export interface RouteDraft {
  readonly subject_type: string;
  readonly subject_id: string;
  /** Whether the route is for all subjects of the type without a route of their own. */
  readonly isDefault: boolean;
  /** Both empty for no parent. */
  readonly parent_type: string;
  readonly parent_id: string;
  readonly account_id: string;
  readonly usage_limit_plan_id: string;
  readonly timezone: string;
  readonly week_start: WeekStart;
  /** Unix seconds; undefined stands for the time at which the route is created. */
  readonly usage_limit_anchor: number | undefined;
}

export const NEW_ROUTE: RouteDraft = {
  subject_type: '',
  subject_id: '',
  isDefault: false,
  parent_type: '',
  parent_id: '',
  account_id: '',
  usage_limit_plan_id: '',
  timezone: 'UTC',
  week_start: 'monday',
  usage_limit_anchor: undefined,
};

export const ROUTE_FIELDS = [
  'subject_type',
  'subject_id',
  'parent',
  'account_id',
  'usage_limit_plan_id',
  'timezone',
  'week_start',
  'usage_limit_anchor',
] as const satisfies readonly (keyof CreateSubjectRouteBody)[];

export function routeDraftOf(route: SubjectRoute): RouteDraft {
  const isDefault = route.subject_id === EVERY;
  return {
    ...{ isDefault, subject_type: route.subject_type, subject_id: isDefault ? '' : route.subject_id },
    parent_type: route.parent?.subject_type ?? '',
    parent_id: route.parent?.subject_id ?? '',
    account_id: route.account_id ?? '',
    usage_limit_plan_id: route.usage_limit_plan_id ?? '',
    timezone: route.timezone,
    week_start: route.week_start,
    usage_limit_anchor: route.usage_limit_anchor,
  };
}

/** The request body. Without an account ID and a parent, the service creates an account. */
export function routeBodyOf(draft: RouteDraft): CreateSubjectRouteBody {
  const { usage_limit_anchor: anchor, timezone, week_start } = draft;
  const account = draft.account_id.trim();
  const [parentType, parentId] = [draft.parent_type.trim(), draft.parent_id];
  const hasParent = parentType !== '' || parentId !== '';
  return {
    subject_type: draft.subject_type.trim(),
    subject_id: draft.isDefault ? EVERY : draft.subject_id,
    usage_limit_plan_id: draft.usage_limit_plan_id === '' ? null : draft.usage_limit_plan_id,
    parent: hasParent ? { subject_type: parentType, subject_id: parentId } : null,
    timezone,
    week_start,
    ...(account === '' ? (hasParent ? { account_id: null } : {}) : { account_id: account }),
    ...(anchor === undefined ? {} : { usage_limit_anchor: anchor }),
  };
}

/** Whether the change moves the start of windows, which restarts their counters. */
export function movesWindows(before: RouteDraft, after: RouteDraft): boolean {
  return (['timezone', 'week_start', 'usage_limit_anchor'] as const).some(
    (field) => before[field] !== after[field],
  );
}
