import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  CreateSubjectRouteBody,
  DirectLimit,
  DirectLimitPage,
  LimitRuleInput,
  SubjectRoute,
  SubjectRoutePage,
  UpdateDirectLimitBody,
  UpdateSubjectRouteBody,
} from '@tollgate/contract';
import { request, withQuery } from '../../../api/client.js';
import { useProjectPath } from '../../../project.js';
import { LIMITS, PAGE_SIZE } from '../query-key.js';

/** Upper bound of the direct limits of a route. */
const DIRECT_LIMITS_MAX = 100;

function useRoutesPath(): string {
  return `${useProjectPath()}/subject-routes`;
}

export interface RouteQuery {
  readonly subject_type: string;
  readonly subject_id: string;
  readonly usage_limit_plan_id: string;
  readonly offset: number;
}

export const ALL_ROUTES: RouteQuery = {
  subject_type: '',
  subject_id: '',
  usage_limit_plan_id: '',
  offset: 0,
};

export function useRoutes(query: RouteQuery) {
  const path = useRoutesPath();
  return useQuery({
    queryKey: [LIMITS, path, 'list', query],
    queryFn: () => request<SubjectRoutePage>('GET', withQuery(path, { ...query, limit: PAGE_SIZE })),
    placeholderData: keepPreviousData,
  });
}

/** The number of routes that use a plan. */
export function useRoutesOfPlan(planId: string) {
  const path = useRoutesPath();
  return useQuery({
    queryKey: [LIMITS, path, 'of plan', planId],
    queryFn: async () =>
      (await request<SubjectRoutePage>('GET', withQuery(path, { usage_limit_plan_id: planId, limit: 1 })))
        .total_count,
  });
}

export function useRoute(id: string | null) {
  const path = useRoutesPath();
  return useQuery({
    queryKey: [LIMITS, path, 'one', id],
    enabled: id !== null,
    queryFn: () => request<SubjectRoute>('GET', `${path}/${id}`),
  });
}

export function useDirectLimits(routeId: string) {
  const path = useRoutesPath();
  return useQuery({
    queryKey: [LIMITS, path, 'limits', routeId],
    queryFn: async () =>
      (
        await request<DirectLimitPage>(
          'GET',
          withQuery(`${path}/${routeId}/limits`, { limit: DIRECT_LIMITS_MAX }),
        )
      ).limits,
  });
}

function useChange<Input, Answer>(
  change: (path: string, input: Input) => Promise<Answer>,
  onSuccess: () => void = () => {},
) {
  const path = useRoutesPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(path, input),
    onSuccess,
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}

/** Creates a route, or updates the one with this ID. */
export function useSaveRoute(id: string | undefined) {
  return useChange((path, body: CreateSubjectRouteBody) =>
    id === undefined
      ? request<SubjectRoute>('POST', path, { body })
      : request<SubjectRoute>('PUT', `${path}/${id}`, { body: body satisfies UpdateSubjectRouteBody }),
  );
}

/** Deletes a route. `onDeleted` leaves its page first: data on screen is fetched again, and would be a 404. */
export function useDeleteRoute(id: string, onDeleted: () => void) {
  return useChange((path, _: undefined) => request<void>('DELETE', `${path}/${id}`), onDeleted);
}

/** Creates a direct limit of a route, or updates the one with this ID. */
export function useSaveDirectLimit(routeId: string, id: string | undefined) {
  return useChange(
    (path, { effective, ...rule }: LimitRuleInput & Pick<UpdateDirectLimitBody, 'effective'>) => {
      const limits = `${path}/${routeId}/limits`;
      return id === undefined
        ? request<DirectLimit>('POST', limits, { body: rule })
        : request<DirectLimit>('PUT', `${limits}/${id}`, {
            body: { ...rule, ...(effective === undefined ? {} : { effective }) },
          });
    },
  );
}

export function useDeleteDirectLimit(routeId: string) {
  return useChange((path, id: string) => request<void>('DELETE', `${path}/${routeId}/limits/${id}`));
}
