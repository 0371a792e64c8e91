import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { UsageEvent, UsageEventDetail, UsageEventList } from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';

export interface EventFilters {
  readonly status: '' | 'processed' | 'failed';
  readonly metric: string;
  readonly source: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly external_event_id: string;
  /** Events that one movement of a wallet paid for. */
  readonly ledger_transaction_id: string;
}

export const NO_FILTERS: EventFilters = {
  status: '',
  metric: '',
  source: '',
  subject_type: '',
  subject_id: '',
  external_event_id: '',
  ledger_transaction_id: '',
};

const PAGE_SIZE = 50;
const LIVE_MS = 2_000;

/** Events by time, newest first, page after page. Live, the first page is read again and again. */
export function useEvents(filters: EventFilters, isLive: boolean) {
  const project = useProjectPath();
  return useInfiniteQuery({
    queryKey: ['events', project, filters],
    queryFn: ({ pageParam, signal }) =>
      request<UsageEventList>(
        'GET',
        withQuery(`${project}/usage/events`, { ...filters, limit: PAGE_SIZE, cursor: pageParam }),
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: isLive ? LIVE_MS : false,
    maxPages: isLive ? 1 : 0,
  });
}

export function useEvent(id: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: ['event', project, id],
    queryFn: () => request<UsageEventDetail>('GET', `${project}/usage/events/${id}`),
  });
}

/** Has a failed event rated again. */
export function useReprocess() {
  const project = useProjectPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ raw_event_id }: UsageEvent) =>
      request<{ count: number }>('POST', `${project}/usage/events/${raw_event_id}/reprocess`),
    onSettled: () => client.invalidateQueries({ queryKey: ['events', project] }),
  });
}
