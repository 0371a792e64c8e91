import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UsageEventList } from '@tollgate/contract';
import { useProjectClient } from '../../../project.js';
import { LIMITS } from '../query-key.js';
import { type Subject, subjectName } from './subject.js';

const REFRESH_MS = 3_000;
const CROSSINGS_PAGE_SIZE = 10;
/** Number of latest events that are searched for subjects. */
const RECENT_EVENTS = 50;

/** The status of each limit of a subject and of all subjects above it, polled. */
export function useSubjectLimits({ type, id }: Subject) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, project.projectId, 'subject', type, id],
    queryFn: () => project.realtimeLimits.snapshot({ subject_type: type, subject_id: id, levels: 'all' }),
    refetchInterval: REFRESH_MS,
  });
}

/** Recent threshold crossings of a subject, newest first. */
export function useCrossings({ type, id }: Subject, offset: number) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, project.projectId, 'crossings', type, id, offset],
    queryFn: () =>
      project.realtimeLimits.crossings({
        ...{ subject_type: type, subject_id: id },
        ...{ limit: CROSSINGS_PAGE_SIZE, offset },
      }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** The subjects of the newest events, each once, newest first. */
export function useRecentSubjects() {
  const project = useProjectClient();
  return useQuery({
    queryKey: [LIMITS, project.projectId, 'recent-subjects'],
    queryFn: () => project.usage.events({ limit: RECENT_EVENTS }),
    select: ({ events }) => subjectsOf(events),
  });
}

function subjectsOf(events: UsageEventList['events']): readonly Subject[] {
  const subjects = new Map<string, Subject>();
  for (const { subject_type: type, subject_id: id } of events) {
    if (type === null || id === null) continue;
    subjects.set(subjectName({ type, id }), { type, id });
  }
  return [...subjects.values()];
}
