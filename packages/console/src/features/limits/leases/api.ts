import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { BudgetLease, BudgetLeaseList, CreateLeaseBody, LeaseStatus } from '@tollgate/contract';
import { request, withQuery } from '../../../api/client.js';
import { useProjectPath } from '../../../project.js';
import { LIMITS } from '../query-key.js';
import type { Subject } from '../subjects/subject.js';

const LEASES_PAGE_SIZE = 10;
const REFRESH_MS = 3_000;

function useLeasesPath(): string {
  return `${useProjectPath()}/budget-leases`;
}

export type LeaseFilter = LeaseStatus | '';

/** The leases of a subject, newest first, as they change. */
export function useLeases({ type, id }: Subject, status: LeaseFilter, offset: number) {
  const path = useLeasesPath();
  return useQuery({
    queryKey: [LIMITS, path, 'list', type, id, status, offset],
    queryFn: () =>
      request<BudgetLeaseList>(
        'GET',
        withQuery(path, { subject_type: type, subject_id: id, status, offset, limit: LEASES_PAGE_SIZE }),
      ),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export function useLease(id: string) {
  const path = useLeasesPath();
  return useQuery({
    queryKey: [LIMITS, path, 'one', id],
    queryFn: () => request<BudgetLease>('GET', `${path}/${encodeURIComponent(id)}`),
    refetchInterval: REFRESH_MS,
  });
}

export function useOpenLease() {
  const path = useLeasesPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key, body }: { readonly key: string; readonly body: CreateLeaseBody }) =>
      request<BudgetLease>('POST', path, { body, headers: { 'idempotency-key': key } }),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}

export function useCloseLease(id: string) {
  const path = useLeasesPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (_: undefined) => request<BudgetLease>('POST', `${path}/${id}/close`),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}
