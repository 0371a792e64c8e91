import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  RealtimeLimits,
  SubjectRoutePage,
  UsageLimitPlan,
  UsageLimitPlanDetail,
  UsageLimitPlanPage,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';

const LIMITS = 'limits';
const PAGE_SIZE = 100;
const REFRESH_MS = 3_000;

export interface Subject {
  readonly type: string;
  readonly id: string;
}

/** Where a subject stands with each of its limits, as it changes. */
export function useSubjectLimits({ type, id }: Subject) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [LIMITS, project, 'subject', type, id],
    queryFn: () =>
      request<RealtimeLimits>(
        'GET',
        withQuery(`${project}/subject/realtime/limits`, { subject_type: type, subject_id: id }),
      ),
    refetchInterval: REFRESH_MS,
  });
}

export function useRoutes() {
  const project = useProjectPath();
  return useQuery({
    queryKey: [LIMITS, project, 'routes'],
    queryFn: () =>
      request<SubjectRoutePage>('GET', withQuery(`${project}/subject-routes`, { limit: PAGE_SIZE })),
  });
}

export interface PlanFilters {
  readonly archived: boolean;
  readonly search: string;
}

export function usePlans({ archived, search }: PlanFilters) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [LIMITS, project, 'plans', archived, search],
    queryFn: () =>
      request<UsageLimitPlanPage>(
        'GET',
        withQuery(`${project}/usage-limit-plans`, { archived, search, limit: PAGE_SIZE }),
      ),
  });
}

export function usePlan(id: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [LIMITS, project, 'plan', id],
    queryFn: () => request<UsageLimitPlanDetail>('GET', `${project}/usage-limit-plans/${id}`),
  });
}

export type PlanAction = 'publish' | 'archive' | 'restore';

export function usePlanAction(id: string) {
  const project = useProjectPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: PlanAction) =>
      request<UsageLimitPlan>('POST', `${project}/usage-limit-plans/${id}/${action}`),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS, project] }),
  });
}
