import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CreateLeaseBody, LeaseStatus } from '@tollgate/contract';
import { firstEntries } from '../../../api/every-page.js';
import { filled } from '../../../api/filled.js';
import { useProjectClient } from '../../../project.js';
import { LIMITS } from '../query-key.js';
import { useSubjectTree } from '../routes/api.js';
import type { Subject } from '../subjects/subject.js';

const LEASES_PAGE_SIZE = 10;
const REFRESH_MS = 3_000;

/** Upper bound of the leases of a tree that are shown, from the top down. */
const TREE_LEASES_MAX = 300;

/** Upper bound of the leases of one subject that are proposed as parents, newest first. */
const PARENTS_PROPOSED_MAX = 10;

/** The form of lease ids: a request for other text would be a 404. */
const LEASE_ID = /^bl_[0-9a-f]{32}$/;

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

/** The lease that a person has typed the ID of; nothing before the ID is whole. */
export function useTypedLease(text: string) {
  const { projectId, budgetLeases } = useProjectClient();
  const id = text.trim();
  return useQuery({
    queryKey: [LIMITS, projectId, 'leases', 'typed', id],
    queryFn: LEASE_ID.test(id) ? () => budgetLeases.get(id) : skipToken,
    refetchInterval: REFRESH_MS,
  });
}

/** The active leases of the tree of a lease, from the top down, and how many there are. */
export function useLeaseTree(id: string) {
  const { projectId, budgetLeases } = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, projectId, 'leases', 'tree', id],
    queryFn: async () => {
      const { entries: leases, total } = await firstEntries(
        (page) => budgetLeases.tree(id, page),
        (page) => page.budget_leases,
        TREE_LEASES_MAX,
      );
      return { leases, total };
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** Active leases of a subject and of the subjects above it: a lease of the subject can be a part of these. */
export function useParentLeases(subject: Subject) {
  const { projectId, budgetLeases } = useProjectClient();
  const tree = useSubjectTree(subject);
  const subjects = tree.data?.chain.map((level) => level.subject);
  return useQuery({
    queryKey: [LIMITS, projectId, 'leases', 'parents', subjects],
    queryFn:
      subjects === undefined
        ? skipToken
        : async () => {
            const lists = subjects.map(({ type, id }) =>
              budgetLeases.list({
                ...{ subject_type: type, subject_id: id },
                ...{ status: 'active', limit: PARENTS_PROPOSED_MAX },
              }),
            );
            return (await Promise.all(lists)).flatMap((list) => list.budget_leases);
          },
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
