import {
  keepPreviousData,
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type {
  AnalysisQuery,
  ChartInput,
  ChartQuery,
  CreateBoardBody,
  ReorderChartsBody,
  UpdateBoardBody,
} from '@tollgate/contract';
import type { ProjectClient } from '@tollgate/sdk/browser';
import { nowS } from '../../clock.js';
import { useProjectClient } from '../../project.js';
import type { Tellings } from './change-notices.js';
import { type ChartData, chartDataOf } from './chart-data.js';
import type { TimeRange } from './time-range.js';

const BOARDS = 'boards';

export function useBoards() {
  const project = useProjectClient();
  return useQuery({
    queryKey: [BOARDS, project.projectId],
    queryFn: async () => (await project.boards.list()).boards,
  });
}

/** Every change of boards; each makes the list be read anew. */
export function useBoardChanges() {
  const { projectId, boards } = useProjectClient();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [BOARDS, projectId] });
  return {
    create: useMutation({ mutationFn: (body: CreateBoardBody) => boards.create(body), onSettled }),
    update: useMutation({
      mutationFn: ({ id, body }: { id: string; body: UpdateBoardBody }) => boards.update(id, body),
      onSettled,
    }),
    remove: useMutation({ mutationFn: (id: string) => boards.delete(id), onSettled }),
    reorder: useMutation({
      mutationFn: ({ id, body }: { id: string; body: ReorderChartsBody }) => boards.reorder(id, body.order),
      onSettled,
    }),
    createChart: useMutation({ mutationFn: (body: ChartInput) => boards.createChart(body), onSettled }),
    updateChart: useMutation({
      mutationFn: ({ id, body }: { id: string; body: ChartInput }) => boards.updateChart(id, body),
      onSettled,
    }),
    removeChart: useMutation({ mutationFn: (id: string) => boards.deleteChart(id), onSettled }),
  };
}

/** How often a chart that ends now is asked anew, when nobody tells it what changes. */
const POLL_MS = 5_000;

export function chartDataKey(
  projectId: string,
  query: ChartQuery,
  timezone: string,
  range: TimeRange,
): QueryKey {
  return ['analysis', projectId, query, timezone, range];
}

export interface ChartDataOptions {
  /** Undefined asks nothing. */
  readonly query: ChartQuery | undefined;
  readonly timezone: string;
  readonly range: TimeRange;
  /** Whether a stream tells what changes. */
  readonly isFollowed?: boolean;
  readonly tellings: Tellings;
}

/** The numbers of a chart. Those that are shown stay until the next ones are here. */
export function useChartData({ query, timezone, range, isFollowed = false, tellings }: ChartDataOptions) {
  const { projectId, analysis } = useProjectClient();
  const isMoving = 'last_seconds' in range || range.to > nowS();
  const queryKey = chartDataKey(projectId, query ?? { metrics: [] }, timezone, range);
  const ask = async (signal: AbortSignal) =>
    chartDataOf(await analysis.query(analysisQuery(query, timezone, range), { signal }));
  return useQuery<ChartData>({
    queryKey,
    queryFn: ({ signal }) => tellings.during(queryKey, () => ask(signal)),
    enabled: query !== undefined,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    refetchInterval: isMoving && !isFollowed ? POLL_MS : false,
    refetchOnWindowFocus: !isFollowed,
  });
}

function analysisQuery(query: ChartQuery | undefined, timezone: string, range: TimeRange): AnalysisQuery {
  return { ...query, timezone, time_range: range };
}

/** The rows of a chart as a file, just as the service writes it. */
export async function chartCsv(
  { analysis }: ProjectClient,
  query: ChartQuery,
  timezone: string,
  range: TimeRange,
): Promise<Blob> {
  const text = await analysis.queryCsv(analysisQuery(query, timezone, range));
  return new Blob([text], { type: 'text/csv;charset=utf-8' });
}
