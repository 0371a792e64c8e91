import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { IngestStatus, ReprocessRequest, UsageEventDetail, UsageEventList } from '@tollgate/contract';
import { request, requestRaw, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';
import { parseExactly } from './exact-json.js';
import { filterBounds, type Question } from './filters.js';

const PAGE_SIZE = 50;
const LIVE_MS = 2_000;
const STATUS_MS = 5_000;
const UNPRICED_MS = 60_000;

/** Events by time, newest first, page after page. */
export function useEvents(question: Question) {
  const project = useProjectPath();
  return useInfiniteQuery({
    queryKey: ['events', project, question],
    queryFn: ({ pageParam, signal }) =>
      request<UsageEventList>(
        'GET',
        withQuery(`${project}/usage/events`, { ...question, limit: PAGE_SIZE, cursor: pageParam }),
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // Rows stay in place while the user reads; `useNewestEvents` fetches new ones.
    refetchOnWindowFocus: false,
    staleTime: 0,
  });
}

/**
 * Counts selected usage without a price. The question needs a start, or all history would be read. The last
 * count stays until the next one is there, so that nothing below the banner moves under the pointer.
 */
export function useUnpriced(question: Question) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['events', project, question, 'unpriced'],
    enabled: question.from !== undefined,
    queryFn: async ({ signal }) => {
      const path = withQuery(`${project}/usage/events`, { ...question, count: 'unpriced', limit: 1 });
      return (await request<UsageEventList>('GET', path, { signal })).unpriced;
    },
    placeholderData: keepPreviousData,
    staleTime: UNPRICED_MS,
    refetchInterval: UNPRICED_MS,
  });
}

/** The newest events, polled. */
export function useNewestEvents(question: Question, isLive: boolean) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['events', project, question, 'newest'],
    enabled: isLive,
    queryFn: async ({ signal }) => {
      const path = withQuery(`${project}/usage/events`, { ...question, limit: PAGE_SIZE });
      return (await request<UsageEventList>('GET', path, { signal })).events;
    },
    refetchInterval: LIVE_MS,
  });
}

export function useEvent(id: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['event', project, id],
    queryFn: async () => {
      const response = await requestRaw('GET', `${project}/usage/events/${encodeURIComponent(id)}`);
      return parseExactly(await response.text()) as UsageEventDetail;
    },
  });
}

/** The numbers of pending, failed and deferred events. */
export function useIngestStatus() {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['ingest-status', project],
    queryFn: () => request<IngestStatus>('GET', `${project}/usage/ingest-status`),
    refetchInterval: STATUS_MS,
  });
}

/**
 * Reprocesses failed events. `one` then fetches all event data again; after the others the caller does so with
 * `refetchAll`.
 */
export function useReprocess() {
  const project = useProjectPath();
  const client = useQueryClient();
  const onSettled = () =>
    Promise.all(
      ['events', 'event', 'ingest-status'].map((kind) =>
        client.invalidateQueries({ queryKey: [kind, project] }),
      ),
    );
  const askFor = (id: string) => request<void>('POST', `${project}/usage/events/${id}/reprocess`);
  return {
    one: useMutation({ mutationFn: askFor, onSettled }),
    askFor,
    askForRange: (body: ReprocessRequest) =>
      request<void>('POST', `${project}/usage/events/reprocess`, { body }),
    /** Fetches all event data again. */
    refetchAll: onSettled,
  };
}

/** URL of the export of all matching events. An export needs both ends of the time range. */
export function exportUrl(project: string, question: Question, format: 'csv' | 'ndjson'): string {
  return `/api${withQuery(`${project}/usage/events/export`, { ...question, ...filterBounds(question), format })}`;
}
