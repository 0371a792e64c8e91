import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type CreateLimitRaiseBody,
  type CreateSubjectRouteBody,
  type LimitRuleInput,
  SUBJECT_LEVELS_MAX,
  type SubjectRoute,
  type UpdateDirectLimitBody,
  type UpdateProjectSettingsBody,
  type UpdateSubjectRouteBody,
} from '@tollgate/contract';
import type { ProjectClient } from '@tollgate/sdk/browser';
import { filled } from '../../../api/filled.js';
import { useMay } from '../../../api/session.js';
import { useProjectClient } from '../../../project.js';
import { LIMITS, PAGE_SIZE } from '../query-key.js';
import { EVERY, type Subject, subjectOf } from '../subjects/subject.js';

/** Upper bound of the direct limits of a route. */
const DIRECT_LIMITS_MAX = 100;

const TREE_REFRESH_MS = 30_000;

/** Upper bound of the raises of a route that are shown, newest first. */
const RAISES_SHOWN_MAX = 20;

export interface RouteQuery {
  readonly subject_type: string;
  readonly subject_id: string;
  readonly account_id: string;
  readonly usage_limit_plan_id: string;
  readonly offset: number;
}

export const ALL_ROUTES: RouteQuery = {
  subject_type: '',
  subject_id: '',
  account_id: '',
  usage_limit_plan_id: '',
  offset: 0,
};

export function useRoutes(query: RouteQuery) {
  const { projectId, subjectRoutes } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'routes', 'list', query],
    queryFn: () => subjectRoutes.list({ ...filled(query), limit: PAGE_SIZE }),
    placeholderData: keepPreviousData,
  });
}

/** The number of routes that use a plan. */
export function useRoutesOfPlan(planId: string) {
  const { projectId, subjectRoutes } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'routes', 'of plan', planId],
    queryFn: async () => (await subjectRoutes.list({ usage_limit_plan_id: planId, limit: 1 })).total_count,
  });
}

/** Upper bound of the routes of an account that are shown. */
const ROUTES_OF_ACCOUNT_MAX = 10;

/** The first routes to an account, and their number. */
export function useRoutesOfAccount(accountId: string) {
  const { projectId, subjectRoutes } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'routes', 'of account', accountId],
    queryFn: () => subjectRoutes.list({ account_id: accountId, limit: ROUTES_OF_ACCOUNT_MAX }),
  });
}

/** Upper bound of the subjects below another one that are shown. */
const BELOW_MAX = 20;

/** The chain of a subject with its routes, the highest level first, and the routes directly below the subject. */
export function useSubjectTree({ type, id }: Subject) {
  const { projectId, subjectRoutes } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'routes', 'tree', type, id],
    queryFn: async () => {
      const routeOf = async (subject: Subject) => {
        const find = (subject_id: string) =>
          subjectRoutes.list({ subject_type: subject.type, subject_id, limit: 1 });
        return (await find(subject.id)).subject_routes[0] ?? (await find(EVERY)).subject_routes[0];
      };
      const chain: { readonly subject: Subject; readonly route: SubjectRoute | undefined }[] = [];
      let next: Subject | undefined = { type, id };
      while (next !== undefined && chain.length < SUBJECT_LEVELS_MAX) {
        const route: SubjectRoute | undefined = await routeOf(next);
        chain.unshift({ subject: next, route });
        next = route?.parent == null ? undefined : subjectOf(route.parent);
      }
      const below = await subjectRoutes.list({
        ...{ parent_subject_type: type, parent_subject_id: id },
        limit: BELOW_MAX,
      });
      return { chain, below: below.subject_routes, belowCount: below.total_count };
    },
    refetchInterval: TREE_REFRESH_MS,
  });
}

export function useRoute(id: string | null) {
  const { projectId, subjectRoutes } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'routes', 'one', id],
    queryFn: id === null ? skipToken : () => subjectRoutes.get(id),
  });
}

export function useDirectLimits(routeId: string) {
  const { projectId, subjectRoutes } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'routes', 'limits', routeId],
    queryFn: async () => (await subjectRoutes.limits(routeId, { limit: DIRECT_LIMITS_MAX })).limits,
  });
}

export function useRaises(routeId: string) {
  const { projectId, subjectRoutes } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'routes', 'raises', routeId],
    queryFn: async () => (await subjectRoutes.raises(routeId, { limit: RAISES_SHOWN_MAX })).raises,
  });
}

/** The names of the limits of a route, from its limit plan and its direct limits. */
export function useLimitKeys({ id, usage_limit_plan_id: planId }: SubjectRoute) {
  const { projectId, usageLimitPlans } = useProjectClient();
  const direct = useDirectLimits(id);
  const plan = useQuery({
    queryKey: [LIMITS, projectId, 'plans', 'published keys', planId],
    queryFn: planId === null ? skipToken : async () => (await usageLimitPlans.get(planId)).published,
  });
  const rules = [...(plan.data?.rules ?? []), ...(direct.data ?? [])];
  return [...new Set(rules.map(({ limit_key }) => limit_key))];
}

/** The settings of the project; nothing is read for a key that may not see them. */
export function useProjectSettings() {
  const { projectId, settings } = useProjectClient();
  const isAllowed = useMay('usage_control:write');
  return useQuery({
    queryKey: [LIMITS, projectId, 'settings'],
    queryFn: isAllowed ? () => settings.get() : skipToken,
  });
}

export function useSaveProjectSettings() {
  const { settings } = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: UpdateProjectSettingsBody) => settings.update(change),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}

function useChange<Input, Answer>(
  change: (routes: ProjectClient['subjectRoutes'], input: Input) => Promise<Answer>,
  onSuccess: () => void = () => {},
) {
  const { subjectRoutes } = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(subjectRoutes, input),
    onSuccess,
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}

/** Creates a route, or updates the one with this ID. */
export function useSaveRoute(id: string | undefined) {
  return useChange((routes, body: CreateSubjectRouteBody) =>
    id === undefined ? routes.create(body) : routes.update(id, body satisfies UpdateSubjectRouteBody),
  );
}

/** Deletes a route. `onDeleted` leaves its page first: data on screen is fetched again, and would be a 404. */
export function useDeleteRoute(id: string, onDeleted: () => void) {
  return useChange((routes, _: undefined) => routes.delete(id), onDeleted);
}

/** Creates a direct limit of a route, or updates the one with this ID. */
export function useSaveDirectLimit(routeId: string, id: string | undefined) {
  return useChange(
    (routes, { effective, ...rule }: LimitRuleInput & Pick<UpdateDirectLimitBody, 'effective'>) =>
      id === undefined
        ? routes.createLimit(routeId, rule)
        : routes.updateLimit(routeId, id, { ...rule, ...(effective === undefined ? {} : { effective }) }),
  );
}

export function useDeleteDirectLimit(routeId: string) {
  return useChange((routes, id: string) => routes.deleteLimit(routeId, id));
}

export function useRaiseLimit(routeId: string) {
  return useChange((routes, { key, body }: { readonly key: string; readonly body: CreateLimitRaiseBody }) =>
    routes.raise(routeId, body, { idempotencyKey: key }),
  );
}

export function useEndRaise(routeId: string) {
  return useChange((routes, id: string) => routes.endRaise(routeId, id));
}
