import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
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
import { request } from '../../api/client.js';
import { useProjectPath } from '../../project.js';
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

/** How often a chart that ends now is read anew. */
const REFRESH_MS = 5_000;

/** The numbers of a chart. Those that are shown stay until the next ones are here. */
export function useChartData(query: ChartQuery, timezone: string, range: TimeRange) {
  const project = useProjectPath();
  const isLive = 'last_seconds' in range;
  return useQuery({
    queryKey: ['analysis', project, query, timezone, range],
    queryFn: ({ signal }) =>
      request<AnalysisResult>('POST', `${project}/analysis/query`, {
        body: { ...query, timezone, time_range: range },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? REFRESH_MS : false,
  });
}
