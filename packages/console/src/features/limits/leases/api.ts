import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreateLeaseBody, LeaseStatus } from '@tollgate/contract';
import { filled } from '../../../api/filled.js';
import { useProjectClient } from '../../../project.js';
import { LIMITS } from '../query-key.js';
import type { Subject } from '../subjects/subject.js';

const LEASES_PAGE_SIZE = 10;
const REFRESH_MS = 3_000;

export type LeaseFilter = LeaseStatus | '';

/** The leases of a subject, newest first, as they change. */
export function useLeases({ type, id }: Subject, status: LeaseFilter, offset: number) {
  const { projectId, budgetLeases } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'leases', 'list', type, id, status, offset],
    queryFn: () =>
      budgetLeases.list({
        ...{ subject_type: type, subject_id: id },
        ...filled({ status }),
        ...{ offset, limit: LEASES_PAGE_SIZE },
      }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export function useLease(id: string) {
  const { projectId, budgetLeases } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'leases', 'one', id],
    queryFn: () => budgetLeases.get(id),
    refetchInterval: REFRESH_MS,
  });
}

export function useOpenLease() {
  const { budgetLeases } = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key, body }: { readonly key: string; readonly body: CreateLeaseBody }) =>
      budgetLeases.create(body, { idempotencyKey: key }),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}

export function useCloseLease(id: string) {
  const { budgetLeases } = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (_: undefined) => budgetLeases.close(id),
    onSettled: () => client.invalidateQueries({ queryKey: [LIMITS] }),
  });
}
