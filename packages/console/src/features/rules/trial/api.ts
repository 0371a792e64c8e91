import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Backtest, BacktestRequest, RulesTestResult, UsageEventDetail } from '@tollgate/contract';
import { useCallback } from 'react';
import { useMay } from '../../../api/session.js';
import { useProjectClient } from '../../../project.js';
import { parseExactly } from '../../usage/exact-json.js';
import { RULES, type RuleSetKind, ruleSetsOf } from '../api.js';
import { type EventDraft, type GivenEvent, isComplete, type TrialRules, trialBody } from './trial-request.js';

/** The rules of a test and its result. */
export interface Trial {
  readonly rules: TrialRules;
  readonly result: RulesTestResult;
}

/**
 * Tests rules on an event. The last result stays until the next one arrives. Idle while the event is
 * incomplete.
 */
export function useTrial(rules: TrialRules | undefined, event: EventDraft) {
  const project = useProjectClient();
  const body = rules !== undefined && isComplete(event) ? trialBody(rules, event) : undefined;
  return useQuery({
    queryKey: ['trial', project.projectId, body],
    queryFn:
      body === undefined
        ? skipToken
        : async ({ signal }): Promise<Trial> => ({
            rules: rules ?? {},
            result: await project.ruleTrials.testText(body, { signal }),
          }),
    placeholderData: keepPreviousData,
  });
}

/**
 * The test event of a rule set. It is kept while the user visits other pages, until the session ends.
 */
export function useKeptEvent(ruleSetId: string | undefined) {
  const { projectId } = useProjectClient();
  const client = useQueryClient();
  const { data } = useQuery<GivenEvent>({
    queryKey: ['trial-event', projectId, ruleSetId],
    queryFn: skipToken,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const change = useCallback(
    (next: (given: GivenEvent) => GivenEvent) => {
      client.setQueryData<GivenEvent>(['trial-event', projectId, ruleSetId], (given = {}) => next(given));
    },
    [client, projectId, ruleSetId],
  );
  return [data, change] as const;
}

const RECENT_SHOWN = 20;

/** The latest events of a rule set. */
export function useRecentEvents(ruleSetId: string | undefined) {
  const project = useProjectClient();
  const mayRead = useMay('usage:read');
  return useQuery({
    queryKey: ['trial-events', project.projectId, ruleSetId],
    queryFn:
      mayRead && ruleSetId !== undefined
        ? async () => {
            const query = { extractor_rule_set_id: ruleSetId, limit: RECENT_SHOWN };
            return (await project.usage.events(query)).events;
          }
        : skipToken,
  });
}

/** Fetches an event and keeps the digits of its numbers as they were sent. */
export function useReadEvent() {
  const project = useProjectClient();
  return useMutation({
    mutationFn: async (id: string) => {
      return parseExactly(await project.usage.eventText(id)) as UsageEventDetail;
    },
  });
}

/** The published version; null if there is none or the rule set is archived. */
export function usePublishedVersion(kind: RuleSetKind, ruleSetId: string | undefined) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [RULES, project.projectId, 'published', kind, ruleSetId],
    queryFn:
      ruleSetId === undefined
        ? skipToken
        : async () => {
            const { versions } = await ruleSetsOf(project, kind).versions(ruleSetId, { limit: 100 });
            return versions.find(({ status }) => status === 'published')?.version ?? null;
          },
  });
}

/**
 * Versions that can price the charge items of an extractor rule set: the published version and a newer draft of
 * each pricing rule set.
 */
export function useBoundPrices(extractorRuleSetId: string | undefined) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [RULES, project.projectId, 'bound-prices', extractorRuleSetId],
    queryFn:
      extractorRuleSetId === undefined
        ? skipToken
        : async () => {
            const query = {
              limit: 100,
              extractor_rule_set_id: extractorRuleSetId,
              purpose: 'price' as const,
            };
            const lists = (['published', 'draft'] as const).map((status) =>
              project.pricingRuleSets.list({ ...query, status }),
            );
            return (await Promise.all(lists)).flatMap(({ pricing_rule_sets }) => pricing_rule_sets);
          },
  });
}

const BACKTESTS_SHOWN = 20;
const PROGRESS_MS = 1_000;
const BACKTESTS = 'backtests';

export function useBacktests() {
  const project = useProjectClient();
  return useQuery({
    queryKey: [BACKTESTS, project.projectId],
    queryFn: async () => (await project.ruleTrials.backtests({ limit: BACKTESTS_SHOWN })).backtests,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'running') === true ? PROGRESS_MS : false,
  });
}

/** One backtest, polled while it runs. */
export function useBacktest(id: string | undefined) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [BACKTESTS, project.projectId, id],
    queryFn: id === undefined ? skipToken : () => project.ruleTrials.backtest(id),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? PROGRESS_MS : false),
  });
}

export function useBacktestChanges() {
  const project = useProjectClient();
  const client = useQueryClient();
  const onSuccess = (backtest: Backtest) => {
    client.setQueryData([BACKTESTS, project.projectId, backtest.id], backtest);
    return client.invalidateQueries({ queryKey: [BACKTESTS, project.projectId], exact: true });
  };
  return {
    start: useMutation({
      mutationFn: (body: BacktestRequest) => project.ruleTrials.startBacktest(body),
      onSuccess,
    }),
    cancel: useMutation({
      mutationFn: (id: string) => project.ruleTrials.cancelBacktest(id),
      onSuccess,
    }),
  };
}
