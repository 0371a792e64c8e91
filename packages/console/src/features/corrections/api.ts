import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ApplyCorrectionRequest,
  Correction,
  CorrectionRequest,
  CorrectionStatus,
  DeleteCorrectionQuery,
  RevertCorrectionRequest,
} from '@tollgate/contract';
import { useEffect } from 'react';
import { filled } from '../../api/filled.js';
import { useProjectClient } from '../../project.js';

const CORRECTIONS = 'corrections';
const PAGE_SIZE = 50;
const PROGRESS_MS = 500;
/** Interval at which a list with corrections in progress is read again. */
const LIST_MS = 2_000;

export interface CorrectionListFilter {
  readonly status: CorrectionStatus | '';
  readonly raw_event_id: string;
}

export function isInProgress(status: CorrectionStatus): boolean {
  return status === 'planning' || status === 'applying' || status === 'reverting';
}

/** One page of corrections, newest first; read again while one of them is in progress. */
export function useCorrections(filter: CorrectionListFilter, offset: number) {
  const { projectId, corrections } = useProjectClient();
  return useQuery({
    queryKey: [CORRECTIONS, projectId, 'list', filter, offset],
    queryFn: ({ signal }) => corrections.list({ ...filled(filter), limit: PAGE_SIZE, offset }, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.corrections.some(({ status }) => isInProgress(status)) === true ? LIST_MS : false,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

/** One correction, read again while it is in progress. At its end, everything that it changes is fetched again. */
export function useCorrection(id: string) {
  const { projectId, corrections } = useProjectClient();
  const refetchUsage = useRefetchUsage();
  const correction = useQuery({
    queryKey: [CORRECTIONS, projectId, id],
    queryFn: ({ signal }) => corrections.get(id, { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isInProgress(state.data.status) ? PROGRESS_MS : false,
    staleTime: 0,
  });
  const inForce = correction.data?.applied.events;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the number of events in force triggers it
  useEffect(() => {
    if (inForce !== undefined) void refetchUsage();
  }, [inForce, correction.data?.status]);
  return correction;
}

/** Marks all data that corrections change as outdated. */
export function useRefetchUsage() {
  const { projectId } = useProjectClient();
  const client = useQueryClient();
  return () =>
    Promise.all(
      ['events', 'event', 'ingest-status', 'billing'].map((kind) =>
        client.invalidateQueries({ queryKey: [kind, projectId] }),
      ),
    );
}

/** A request that is carried out once for each key. */
interface Once<Body> {
  readonly key: string;
  readonly body: Body;
}

/** Starts a correction of many events that stops at a plan. */
export function useCreateCorrection() {
  const { projectId, corrections } = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ body, key }: Once<CorrectionRequest>) =>
      corrections.create({ ...body, dry_run: true }, { idempotencyKey: key }),
    onSuccess: () => client.invalidateQueries({ queryKey: [CORRECTIONS, projectId, 'list'] }),
  });
}

/** Changes of a correction by the user. */
export function useCorrectionChanges(id: string) {
  const { projectId, corrections } = useProjectClient();
  const client = useQueryClient();
  const onSuccess = (changed: Correction) => {
    client.setQueryData([CORRECTIONS, projectId, id], changed);
    return client.invalidateQueries({ queryKey: [CORRECTIONS, projectId, 'list'] });
  };
  return {
    apply: useMutation({
      mutationFn: (request: ApplyCorrectionRequest) => corrections.apply(id, request),
      onSuccess,
    }),
    revert: useMutation({
      mutationFn: (request: RevertCorrectionRequest) => corrections.revert(id, request),
      onSuccess,
    }),
    discard: useMutation({
      mutationFn: (request: DeleteCorrectionQuery) => corrections.delete(id, request),
      onSuccess,
    }),
  };
}

/** Looks for a new revision in the history before giving up: it usually follows within a second. */
const LOOKS_MAX = 20;

/** Corrections of single events. Each function waits until its correction is in force and the history shows it. */
export function useEventCorrections() {
  const { corrections, usage } = useProjectClient();
  const shown = async (rawEventId: string, correctionId: string): Promise<void> => {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const { revisions } = await usage.event(rawEventId);
      if (revisions.some(({ correction_id }) => correction_id === correctionId)) return;
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_MS));
    }
  };
  return {
    askToVoid: async (rawEventId: string, { body: reason, key }: Once<string>): Promise<string> =>
      (await corrections.voidEvent(rawEventId, { reason }, { idempotencyKey: key })).correction_id,
    /** The body is JSON text, so that its numbers keep every digit. */
    askToReplace: async (rawEventId: string, { body, key }: Once<string>): Promise<string> =>
      (await corrections.replaceEventText(rawEventId, body, { idempotencyKey: key })).correction_id,
    ended: async (rawEventId: string, correctionId: string): Promise<Correction> => {
      const correction = await corrections.untilEnded(correctionId, { lookMs: PROGRESS_MS });
      if (correction.failure !== null) throw new Error(correction.failure.message);
      if (correction.events_changed > 0) await shown(rawEventId, correctionId);
      return correction;
    },
  };
}
