import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMay } from '../../api/session.js';
import { useProjectClient } from '../../project.js';
import { RULES } from '../rules/api.js';
import { firstCharts } from './first-board.js';

/** Poll interval while the user waits. */
const LIVE_MS = 1_500;
const EVENTS_READ = 20;
const BOARD_RANGE_S = 3_600;

/** The published rule sets, newest first, and the drafts. */
export function useFirstRules() {
  const project = useProjectClient();
  return useQuery({
    queryKey: [RULES, project.projectId, 'first'],
    queryFn: async () => {
      const read = async (status: 'published' | 'draft') =>
        (await project.extractorRuleSets.list({ status, limit: 100 })).extractor_rule_sets;
      const [published, drafts] = await Promise.all([read('published'), read('draft')]);
      return { published, drafts };
    },
  });
}

export function usePublish() {
  const project = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => project.extractorRuleSets.publish(id),
    onSettled: () => client.invalidateQueries({ queryKey: [RULES, project.projectId] }),
  });
}

/** The number of received events and the newest events, polled. */
export function useArrivals() {
  const project = useProjectClient();
  const mayRead = useMay('usage:read');
  return useQuery({
    queryKey: ['arrivals', project.projectId],
    enabled: mayRead,
    refetchInterval: LIVE_MS,
    queryFn: async () => {
      const [status, { events }] = await Promise.all([
        project.usage.ingestStatus(),
        project.usage.events({ limit: EVENTS_READ }),
      ]);
      return { status, events };
    },
  });
}

/** The metrics that charts can show, polled until there is one. */
export function useFirstMetrics(isEnabled: boolean) {
  const project = useProjectClient();
  return useQuery({
    queryKey: ['metrics', project.projectId, 'first'],
    enabled: isEnabled,
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) === 0 ? LIVE_MS : false),
    queryFn: async () => (await project.analysis.metrics()).metrics,
  });
}

/** Creates a board with charts of all usage so far. */
export function useCreateFirstBoard() {
  const project = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { metrics } = await project.analysis.metrics();
      const board = await project.boards.create({
        name: 'Usage',
        description: 'Usage and amounts.',
        timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        default_time_range_seconds: BOARD_RANGE_S,
      });
      for (const chart of firstCharts(metrics)) {
        await project.boards.createChart({ ...chart, board_id: board.report_id });
      }
      return board;
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['boards', project.projectId] }),
  });
}
