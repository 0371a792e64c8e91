import { useQuery } from '@tanstack/react-query';
import type { RealtimeLimits, SubjectRoutePage } from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';

const LIMITS = 'limits';
const PAGE_SIZE = 100;
const REFRESH_MS = 3_000;

export interface Subject {
  readonly type: string;
  readonly id: string;
}

/** Where a subject stands with each of its limits, as it changes. */
export function useSubjectLimits({ type, id }: Subject) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [LIMITS, project, 'subject', type, id],
    queryFn: () =>
      request<RealtimeLimits>(
        'GET',
        withQuery(`${project}/subject/realtime/limits`, { subject_type: type, subject_id: id }),
      ),
    refetchInterval: REFRESH_MS,
  });
}

export function useRoutes() {
  const project = useProjectPath();
  return useQuery({
    queryKey: [LIMITS, project, 'routes'],
    queryFn: () =>
      request<SubjectRoutePage>('GET', withQuery(`${project}/subject-routes`, { limit: PAGE_SIZE })),
  });
}
