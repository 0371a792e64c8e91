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
import { type ChartData, chartDataOf } from './chart-data.js';
import type { TimeRange } from './time-range.js';
import type { UpdateBuffer } from './update-buffer.js';

const BOARDS = 'boards';

export function useBoards() {
  const project = useProjectClient();
  return useQuery({
    queryKey: [BOARDS, project.projectId],
    queryFn: async () => (await project.boards.list()).boards,
  });
}

/** Changes of boards. After each of them, the list is fetched again. */
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

/** Poll interval of a chart whose range ends now and that no stream updates. */
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
  /** Undefined disables the query. */
  readonly query: ChartQuery | undefined;
  readonly timezone: string;
  readonly range: TimeRange;
  /** Whether a stream updates the chart. */
  readonly isFollowed?: boolean;
  readonly updates: UpdateBuffer;
}

/** The data of a chart. Previous data stays until new data has arrived. */
export function useChartData({ query, timezone, range, isFollowed = false, updates }: ChartDataOptions) {
  const { projectId, analysis } = useProjectClient();
  const isMoving = 'last_seconds' in range || range.to > nowS();
  const queryKey = chartDataKey(projectId, query ?? { metrics: [] }, timezone, range);
  const ask = async (signal: AbortSignal) =>
    chartDataOf(await analysis.query(analysisQuery(query, timezone, range), { signal }));
  return useQuery<ChartData>({
    queryKey,
    queryFn: ({ signal }) => updates.during(queryKey, () => ask(signal)),
    enabled: query !== undefined,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    refetchInterval: isMoving && !isFollowed ? POLL_MS : false,
    refetchOnWindowFocus: !isFollowed,
  });
}

/** The body of a chart's query over a range. */
export function analysisQuery(
  query: ChartQuery | undefined,
  timezone: string,
  range: TimeRange,
): AnalysisQuery {
  return { ...query, timezone, time_range: range };
}

/** The rows of a chart as a CSV file of the service. */
export async function chartCsv(
  { analysis }: ProjectClient,
  query: ChartQuery,
  timezone: string,
  range: TimeRange,
): Promise<Blob> {
  const text = await analysis.queryCsv(analysisQuery(query, timezone, range));
  return new Blob([text], { type: 'text/csv;charset=utf-8' });
}
