import {
  keepPreviousData,
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type {
  AnalysisResult,
  Board,
  BoardList,
  BoardWithCharts,
  Chart,
  ChartInput,
  ChartQuery,
  CreateBoardBody,
  ReorderChartsBody,
  UpdateBoardBody,
} from '@tollgate/contract';
import { request, requestRaw } from '../../api/client.js';
import { nowS } from '../../clock.js';
import { useProjectPath } from '../../project.js';
import type { Tellings } from './change-notices.js';
import { type ChartData, chartDataOf } from './chart-data.js';
import type { TimeRange } from './time-range.js';

const BOARDS = 'boards';

export function useBoards() {
  const project = useProjectPath();
  return useQuery({
    queryKey: [BOARDS, project],
    queryFn: async () => (await request<BoardList>('GET', `${project}/analysis/boards`)).boards,
  });
}

/** Every change of boards; each makes the list be read anew. */
export function useBoardChanges() {
  const project = useProjectPath();
  const client = useQueryClient();
  const path = `${project}/analysis/boards`;
  const onSettled = () => client.invalidateQueries({ queryKey: [BOARDS, project] });
  return {
    create: useMutation({
      mutationFn: (body: CreateBoardBody) => request<Board>('POST', path, { body }),
      onSettled,
    }),
    update: useMutation({
      mutationFn: ({ id, body }: { id: string; body: UpdateBoardBody }) =>
        request<Board>('PUT', `${path}/${id}`, { body }),
      onSettled,
    }),
    remove: useMutation({ mutationFn: (id: string) => request<void>('DELETE', `${path}/${id}`), onSettled }),
    reorder: useMutation({
      mutationFn: ({ id, body }: { id: string; body: ReorderChartsBody }) =>
        request<BoardWithCharts>('PUT', `${path}/${id}/order`, { body }),
      onSettled,
    }),
    createChart: useMutation({
      mutationFn: (body: ChartInput) => request<Chart>('POST', `${path}/${body.board_id}/charts`, { body }),
      onSettled,
    }),
    updateChart: useMutation({
      mutationFn: ({ id, body }: { id: string; body: ChartInput }) =>
        request<Chart>('PUT', `${project}/analysis/charts/${id}`, { body }),
      onSettled,
    }),
    removeChart: useMutation({
      mutationFn: (id: string) => request<void>('DELETE', `${project}/analysis/charts/${id}`),
      onSettled,
    }),
  };
}

/** How often a chart that ends now is asked anew, when nobody tells it what changes. */
const POLL_MS = 5_000;

export function chartDataKey(
  project: string,
  query: ChartQuery,
  timezone: string,
  range: TimeRange,
): QueryKey {
  return ['analysis', project, query, timezone, range];
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
  const project = useProjectPath();
  const isMoving = 'last_seconds' in range || range.to > nowS();
  const queryKey = chartDataKey(project, query ?? { metrics: [] }, timezone, range);
  const ask = async (signal: AbortSignal) =>
    chartDataOf(
      await request<AnalysisResult>('POST', `${project}/analysis/query`, {
        body: analysisBody(query, timezone, range),
        signal,
      }),
    );
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

function analysisBody(query: ChartQuery | undefined, timezone: string, range: TimeRange) {
  return { ...query, timezone, time_range: range };
}

/** The rows of a chart as a file, just as the service writes it. */
export async function chartCsv(
  project: string,
  query: ChartQuery,
  timezone: string,
  range: TimeRange,
): Promise<Blob> {
  const options = { body: analysisBody(query, timezone, range), headers: { accept: 'text/csv' } };
  return (await requestRaw('POST', `${project}/analysis/query`, options)).blob();
}
