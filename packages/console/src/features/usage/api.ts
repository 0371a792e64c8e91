import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { ReprocessRequest, UsageEventDetail } from '@tollgate/contract';
import { filled } from '../../api/filled.js';
import { useProjectClient } from '../../project.js';
import { parseExactly } from './exact-json.js';
import { type EventQuery, eventsQuery } from './filters.js';

const PAGE_SIZE = 50;
const LIVE_MS = 2_000;
const STATUS_MS = 5_000;
const UNPRICED_MS = 60_000;

/** Events by time, newest first, page after page. */
export function useEvents(eventQuery: EventQuery) {
  const { projectId, usage } = useProjectClient();
  return useInfiniteQuery({
    queryKey: ['events', projectId, eventQuery],
    queryFn: ({ pageParam, signal }) =>
      usage.events(
        { ...eventsQuery(eventQuery), ...filled({ cursor: pageParam }), limit: PAGE_SIZE },
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
 * Counts selected usage without a price. The query needs a start, or all history would be read. The last
 * count stays until the next one is there, so that nothing below the banner moves under the pointer.
 */
export function useUnpriced(eventQuery: EventQuery) {
  const { projectId, usage } = useProjectClient();
  return useQuery({
    queryKey: ['events', projectId, eventQuery, 'unpriced'],
    enabled: eventQuery.from !== undefined,
    queryFn: async ({ signal }) => {
      const query = { ...eventsQuery(eventQuery), count: 'unpriced', limit: 1 } as const;
      return (await usage.events(query, { signal })).unpriced;
    },
    placeholderData: keepPreviousData,
    staleTime: UNPRICED_MS,
    refetchInterval: UNPRICED_MS,
  });
}

/** The newest events, polled. */
export function useNewestEvents(eventQuery: EventQuery, isLive: boolean) {
  const { projectId, usage } = useProjectClient();
  return useQuery({
    queryKey: ['events', projectId, eventQuery, 'newest'],
    enabled: isLive,
    queryFn: async ({ signal }) =>
      (await usage.events({ ...eventsQuery(eventQuery), limit: PAGE_SIZE }, { signal })).events,
    refetchInterval: LIVE_MS,
  });
}

export function useEvent(id: string) {
  const { projectId, usage } = useProjectClient();
  return useQuery({
    queryKey: ['event', projectId, id],
    queryFn: async () => parseExactly(await usage.eventText(id)) as UsageEventDetail,
  });
}

/** The numbers of pending, failed and deferred events. */
export function useIngestStatus() {
  const { projectId, usage } = useProjectClient();
  return useQuery({
    queryKey: ['ingest-status', projectId],
    queryFn: () => usage.ingestStatus(),
    refetchInterval: STATUS_MS,
  });
}

/**
 * Reprocesses failed events. `one` then fetches all event data again; after the others the caller does so with
 * `refetchAll`.
 */
export function useReprocess() {
  const { projectId, usage } = useProjectClient();
  const client = useQueryClient();
  const onSettled = () =>
    Promise.all(
      ['events', 'event', 'ingest-status'].map((kind) =>
        client.invalidateQueries({ queryKey: [kind, projectId] }),
      ),
    );
  const askFor = (id: string) => usage.reprocessEvent(id);
  return {
    one: useMutation({ mutationFn: askFor, onSettled }),
    askFor,
    askForRange: (body: ReprocessRequest) => usage.reprocessEvents(body),
    /** Fetches all event data again. */
    refetchAll: onSettled,
  };
}
