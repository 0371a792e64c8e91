import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  Board,
  Chart,
  ExtractorRuleSet,
  ExtractorRuleSetPage,
  IngestStatus,
  MetricsResponse,
  UsageEventList,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useMay } from '../../api/session.js';
import { useProjectPath } from '../../project.js';
import { RULES } from '../rules/api.js';
import { firstCharts } from './first-board.js';

/** Poll interval while the user waits. */
const LIVE_MS = 1_500;
const EVENTS_READ = 20;
const BOARD_RANGE_S = 3_600;

/** The published rule sets, newest first, and the drafts. */
export function useFirstRules() {
  const project = useProjectPath();
  return useQuery({
    queryKey: [RULES, project, 'first'],
    queryFn: async () => {
      const read = async (status: 'published' | 'draft') => {
        const path = withQuery(`${project}/extractor-rule-sets`, { status, limit: 100 });
        return (await request<ExtractorRuleSetPage>('GET', path)).extractor_rule_sets;
      };
      const [published, drafts] = await Promise.all([read('published'), read('draft')]);
      return { published, drafts };
    },
  });
}

export function usePublish() {
  const project = useProjectPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      request<ExtractorRuleSet>('POST', `${project}/extractor-rule-sets/${id}/publish`),
    onSettled: () => client.invalidateQueries({ queryKey: [RULES, project] }),
  });
}

/** The number of received events and the newest events, polled. */
export function useArrivals() {
  const project = useProjectPath();
  const mayRead = useMay('usage:read');
  return useQuery({
    queryKey: ['arrivals', project],
    enabled: mayRead,
    refetchInterval: LIVE_MS,
    queryFn: async () => {
      const [status, { events }] = await Promise.all([
        request<IngestStatus>('GET', `${project}/usage/ingest-status`),
        request<UsageEventList>('GET', withQuery(`${project}/usage/events`, { limit: EVENTS_READ })),
      ]);
      return { status, events };
    },
  });
}

/** The metrics that charts can show, polled until there is one. */
export function useFirstMetrics(isEnabled: boolean) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['metrics', project, 'first'],
    enabled: isEnabled,
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) === 0 ? LIVE_MS : false),
    queryFn: async () => (await request<MetricsResponse>('GET', `${project}/usage/metrics`)).metrics,
  });
}

/** Creates a board with charts of all usage so far. */
export function useCreateFirstBoard() {
  const project = useProjectPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { metrics } = await request<MetricsResponse>('GET', `${project}/usage/metrics`);
      const path = `${project}/analysis/boards`;
      const board = await request<Board>('POST', path, {
        body: {
          name: 'Usage',
          description: 'Usage and cost.',
          timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          default_time_range_seconds: BOARD_RANGE_S,
        },
      });
      for (const chart of firstCharts(metrics)) {
        const body = { ...chart, board_id: board.report_id };
        await request<Chart>('POST', `${path}/${board.report_id}/charts`, { body });
      }
      return board;
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['boards', project] }),
  });
}
