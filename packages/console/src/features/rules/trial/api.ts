import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  Backtest,
  BacktestPage,
  BacktestRequest,
  ExtractorRuleSetVersionPage,
  PricingRuleSetPage,
  RulesTestResult,
  UsageEventDetail,
  UsageEventList,
} from '@tollgate/contract';
import { useCallback } from 'react';
import { request, requestRaw, withQuery } from '../../../api/client.js';
import { useMay } from '../../../api/session.js';
import { useProjectPath } from '../../../project.js';
import { parseExactly } from '../../usage/exact-json.js';
import { RULES, type RuleSetKind, SEGMENTS } from '../api.js';
import { type EventDraft, type GivenEvent, isComplete, type TrialRules, trialBody } from './trial-request.js';

/** What was tried, and what came of it. */
export interface Trial {
  readonly rules: TrialRules;
  readonly result: RulesTestResult;
}

/**
 * What rules make of an event; the last answer stays until the next is here. Nothing is asked while there is
 * no event.
 */
export function useTrial(rules: TrialRules | undefined, event: EventDraft) {
  const project = useProjectPath();
  const body = rules !== undefined && isComplete(event) ? trialBody(rules, event) : undefined;
  return useQuery({
    queryKey: ['trial', project, body],
    enabled: body !== undefined,
    queryFn: async ({ signal }): Promise<Trial> => ({
      rules: rules ?? {},
      result: await request<RulesTestResult>('POST', `${project}/rules/test`, {
        ...(body === undefined ? {} : { json: body }),
        signal,
      }),
    }),
    placeholderData: keepPreviousData,
  });
}

/**
 * The event that the rules of a rule set are tried on. It outlives going to another page, and is forgotten
 * with the session.
 */
export function useKeptEvent(ruleSetId: string | undefined) {
  const project = useProjectPath();
  const client = useQueryClient();
  const { data } = useQuery<GivenEvent>({
    queryKey: ['trial-event', project, ruleSetId],
    queryFn: skipToken,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const change = useCallback(
    (next: (given: GivenEvent) => GivenEvent) => {
      client.setQueryData<GivenEvent>(['trial-event', project, ruleSetId], (given = {}) => next(given));
    },
    [client, project, ruleSetId],
  );
  return [data, change] as const;
}

const RECENT_SHOWN = 20;

/** The last events of a rule set. */
export function useRecentEvents(ruleSetId: string | undefined) {
  const project = useProjectPath();
  const mayRead = useMay('usage:read');
  return useQuery({
    queryKey: ['trial-events', project, ruleSetId],
    enabled: mayRead && ruleSetId !== undefined,
    queryFn: async () => {
      const query = { extractor_rule_set_id: ruleSetId, limit: RECENT_SHOWN };
      return (await request<UsageEventList>('GET', withQuery(`${project}/usage/events`, query))).events;
    },
  });
}

/** Reads an event whose numbers keep the digits that they were sent with. */
export function useReadEvent() {
  const project = useProjectPath();
  return useMutation({
    mutationFn: async (id: string) => {
      const response = await requestRaw('GET', `${project}/usage/events/${id}`);
      return parseExactly(await response.text()) as UsageEventDetail;
    },
  });
}

/** The newest version that was published; null where none is, or none any more. */
export function usePublishedVersion(kind: RuleSetKind, ruleSetId: string | undefined) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [RULES, project, 'published', kind, ruleSetId],
    enabled: ruleSetId !== undefined,
    queryFn: async () => {
      const path = withQuery(`${project}/${SEGMENTS[kind]}/${ruleSetId}/versions`, { limit: 100 });
      const { versions } = await request<ExtractorRuleSetVersionPage>('GET', path);
      return versions.find(({ status }) => status === 'published')?.version ?? null;
    },
  });
}

/**
 * Versions that can price the items of an extractor rule set: of each pricing rule set the published one, and
 * a newer draft.
 */
export function useBoundPrices(extractorRuleSetId: string | undefined) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [RULES, project, 'bound-prices', extractorRuleSetId],
    enabled: extractorRuleSetId !== undefined,
    queryFn: async () => {
      const lists = (['published', 'draft'] as const).map((status) =>
        request<PricingRuleSetPage>(
          'GET',
          withQuery(`${project}/pricing-rule-sets`, {
            status,
            limit: 100,
            extractor_rule_set_id: extractorRuleSetId,
          }),
        ),
      );
      return (await Promise.all(lists)).flatMap(({ pricing_rule_sets }) => pricing_rule_sets);
    },
  });
}

const BACKTESTS_SHOWN = 20;
const PROGRESS_MS = 1_000;
const BACKTESTS = 'backtests';

export function useBacktests() {
  const project = useProjectPath();
  return useQuery({
    queryKey: [BACKTESTS, project],
    queryFn: async () =>
      (
        await request<BacktestPage>(
          'GET',
          withQuery(`${project}/rules/backtests`, { limit: BACKTESTS_SHOWN }),
        )
      ).backtests,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'running') === true ? PROGRESS_MS : false,
  });
}

/** One backtest; while it runs it is read again and again. */
export function useBacktest(id: string | undefined) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [BACKTESTS, project, id],
    enabled: id !== undefined,
    queryFn: () => request<Backtest>('GET', `${project}/rules/backtests/${id}`),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? PROGRESS_MS : false),
  });
}

export function useBacktestChanges() {
  const project = useProjectPath();
  const client = useQueryClient();
  const onSuccess = (backtest: Backtest) => {
    client.setQueryData([BACKTESTS, project, backtest.id], backtest);
    return client.invalidateQueries({ queryKey: [BACKTESTS, project], exact: true });
  };
  return {
    start: useMutation({
      mutationFn: (body: BacktestRequest) => request<Backtest>('POST', `${project}/rules/backtest`, { body }),
      onSuccess,
    }),
    cancel: useMutation({
      mutationFn: (id: string) => request<Backtest>('DELETE', `${project}/rules/backtests/${id}`),
      onSuccess,
    }),
  };
}
