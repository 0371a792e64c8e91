import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreateUsageLimitPlanBody, LimitBacktestRequest, UsageLimitPlan } from '@tollgate/contract';
import { filled } from '../../../api/filled.js';
import { useMay } from '../../../api/session.js';
import { useProjectClient } from '../../../project.js';
import { LIMITS, PAGE_SIZE } from '../query-key.js';

/** Upper bound of the plans in a list of choices. The page of plans searches all of them. */
const CHOICES_MAX = 100;

export type PlanFilter = 'active' | 'published' | 'archived';

export interface PlanQuery {
  readonly filter: PlanFilter;
  readonly search: string;
  readonly offset: number;
}

export function usePlans({ filter, search, offset }: PlanQuery) {
  const { projectId, usageLimitPlans } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'plans', 'list', filter, search, offset],
    queryFn: () =>
      usageLimitPlans.list({
        ...flagOf(filter),
        ...filled({ search: search.trim() }),
        ...{ offset, limit: PAGE_SIZE },
      }),
    placeholderData: keepPreviousData,
  });
}

const flagOf = (filter: PlanFilter) => (filter === 'active' ? {} : { [filter]: true });

/** The plans that can be assigned to a route. */
export function usePublishedPlans() {
  const { projectId, usageLimitPlans } = useProjectClient();
  const isPermitted = useMay('usage_control:write');
  return useQuery({
    queryKey: [LIMITS, projectId, 'plans', 'published'],
    enabled: isPermitted,
    queryFn: async () =>
      (await usageLimitPlans.list({ published: true, limit: CHOICES_MAX })).usage_limit_plans,
  });
}

export function usePlan(id: string) {
  const { projectId, usageLimitPlans } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'plans', 'one', id],
    queryFn: () => usageLimitPlans.get(id),
  });
}

/** Versions of a plan: the draft if there is one, then the revisions from newest to oldest. */
export function usePlanVersions(id: string, offset: number) {
  const { projectId, usageLimitPlans } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'plans', 'versions', id, offset],
    queryFn: () => usageLimitPlans.versions(id, { offset, limit: PAGE_SIZE }),
    placeholderData: keepPreviousData,
  });
}

export type PlanAction = 'publish' | 'archive' | 'restore';

export function usePlanAction(id: string) {
  const { usageLimitPlans } = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: PlanAction): Promise<unknown> => usageLimitPlans[action](id),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}

const PROGRESS_MS = 1_000;

/** A backtest of a plan, polled while it runs. */
export function usePlanBacktest(planId: string, id: string | undefined) {
  const { projectId, usageLimitPlans } = useProjectClient();
  return useQuery({
    queryKey: ['plan-backtests', projectId, id],
    queryFn: id === undefined ? skipToken : () => usageLimitPlans.backtestResult(planId, id),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? PROGRESS_MS : false),
  });
}

export function useStartPlanBacktest(planId: string) {
  const { usageLimitPlans } = useProjectClient();
  return useMutation({
    mutationFn: (request: LimitBacktestRequest) => usageLimitPlans.backtest(planId, request),
  });
}

/** The part of the response that saving a new plan and saving a draft have in common. */
export type SavedPlan = Pick<UsageLimitPlan, 'id'>;

/** Creates a plan, or updates the draft of the plan with this ID. */
export function useSavePlan(id: string | undefined) {
  const { usageLimitPlans } = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, ...body }: CreateUsageLimitPlanBody): Promise<SavedPlan> =>
      id === undefined ? usageLimitPlans.create({ name, ...body }) : usageLimitPlans.update(id, body),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}
