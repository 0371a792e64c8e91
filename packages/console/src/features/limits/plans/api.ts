import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  CreateUsageLimitPlanBody,
  LimitBacktestPage,
  LimitBacktestRequest,
  UsageLimitPlan,
} from '@tollgate/contract';
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
const BACKTESTS = 'plan-backtests';
const BACKTESTS_SHOWN = 10;

export type PlanBacktestSummary = LimitBacktestPage['backtests'][number];

/** The newest backtests of a plan. */
export function usePlanBacktests(planId: string) {
  const { projectId, usageLimitPlans } = useProjectClient();
  return useQuery({
    queryKey: [BACKTESTS, projectId, planId],
    queryFn: async () => (await usageLimitPlans.backtests(planId, { limit: BACKTESTS_SHOWN })).backtests,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'running') === true ? PROGRESS_MS : false,
  });
}

/** A backtest of a plan, polled while it runs. */
export function usePlanBacktest(planId: string, id: string | undefined) {
  const { projectId, usageLimitPlans } = useProjectClient();
  return useQuery({
    queryKey: [BACKTESTS, projectId, planId, id],
    queryFn: id === undefined ? skipToken : () => usageLimitPlans.backtestResult(planId, id),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? PROGRESS_MS : false),
  });
}

export function usePlanBacktestChanges(planId: string) {
  const { projectId, usageLimitPlans } = useProjectClient();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [BACKTESTS, projectId, planId] });
  return {
    start: useMutation({
      mutationFn: (request: LimitBacktestRequest) => usageLimitPlans.backtest(planId, request),
      onSettled,
    }),
    cancel: useMutation({
      mutationFn: (id: string) => usageLimitPlans.cancelBacktest(planId, id),
      onSettled,
    }),
  };
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
