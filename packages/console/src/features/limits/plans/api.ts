import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  CreateUsageLimitPlanBody,
  UpdateUsageLimitPlanBody,
  UsageLimitPlan,
  UsageLimitPlanDetail,
  UsageLimitPlanPage,
  UsageLimitPlanVersionPage,
} from '@tollgate/contract';
import { request, withQuery } from '../../../api/client.js';
import { useMay } from '../../../api/session.js';
import { useProjectPath } from '../../../project.js';
import { LIMITS, PAGE_SIZE } from '../query-key.js';

/** Upper bound of the plans in a list of choices. The page of plans searches all of them. */
const CHOICES_MAX = 100;

function usePlansPath(): string {
  return `${useProjectPath()}/usage-limit-plans`;
}

export type PlanFilter = 'active' | 'published' | 'archived';

export interface PlanQuery {
  readonly filter: PlanFilter;
  readonly search: string;
  readonly offset: number;
}

export function usePlans({ filter, search, offset }: PlanQuery) {
  const path = usePlansPath();
  return useQuery({
    queryKey: [LIMITS, path, 'list', filter, search, offset],
    queryFn: () =>
      request<UsageLimitPlanPage>(
        'GET',
        withQuery(path, { ...flagOf(filter), search: search.trim(), offset, limit: PAGE_SIZE }),
      ),
    placeholderData: keepPreviousData,
  });
}

const flagOf = (filter: PlanFilter) => (filter === 'active' ? {} : { [filter]: true });

/** The plans that can be assigned to a route. */
export function usePublishedPlans() {
  const path = usePlansPath();
  const isPermitted = useMay('usage_control:write');
  return useQuery({
    queryKey: [LIMITS, path, 'published'],
    enabled: isPermitted,
    queryFn: async () =>
      (await request<UsageLimitPlanPage>('GET', withQuery(path, { published: true, limit: CHOICES_MAX })))
        .usage_limit_plans,
  });
}

export function usePlan(id: string) {
  const path = usePlansPath();
  return useQuery({
    queryKey: [LIMITS, path, 'one', id],
    queryFn: () => request<UsageLimitPlanDetail>('GET', `${path}/${id}`),
  });
}

/** Versions of a plan: the draft if there is one, then the revisions from newest to oldest. */
export function usePlanVersions(id: string, offset: number) {
  const path = usePlansPath();
  return useQuery({
    queryKey: [LIMITS, path, 'versions', id, offset],
    queryFn: () =>
      request<UsageLimitPlanVersionPage>(
        'GET',
        withQuery(`${path}/${id}/versions`, { offset, limit: PAGE_SIZE }),
      ),
    placeholderData: keepPreviousData,
  });
}

export type PlanAction = 'publish' | 'archive' | 'restore';

export function usePlanAction(id: string) {
  const path = usePlansPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: PlanAction) => request<unknown>('POST', `${path}/${id}/${action}`),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}

/** The part of the response that saving a new plan and saving a draft have in common. */
export type SavedPlan = Pick<UsageLimitPlan, 'id'>;

/** Creates a plan, or updates the draft of the plan with this ID. */
export function useSavePlan(id: string | undefined) {
  const path = usePlansPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, ...body }: CreateUsageLimitPlanBody) =>
      id === undefined
        ? request<SavedPlan>('POST', path, { body: { name, ...body } })
        : request<SavedPlan>('PUT', `${path}/${id}`, { body: body satisfies UpdateUsageLimitPlanBody }),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}
