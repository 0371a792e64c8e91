import { useMutation, useQuery } from '@tanstack/react-query';
import type { UsageEvent } from '@tollgate/contract';
import { useState } from 'react';
import { count } from '../../format.js';
import { useProjectClient } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { ShareBar } from '../../ui/share-bar.js';
import { FailureNote, ReadFailure } from '../../ui/states.js';
import { useReprocess } from './api.js';
import { FAILED_EVENTS_MAX, failedEvents, type Progress, progressOf } from './failed-events.js';
import { type EventQuery, type Filters, filterBounds, isRangeOfFailures } from './filters.js';

const WATCH_MS = 1_000;

interface ReprocessProps {
  readonly filters: Filters;
  readonly eventQuery: EventQuery;
  /** The matching failed events. */
  readonly events: readonly UsageEvent[];
}

/** Reprocesses all matching failed events and shows the progress. */
export function ReprocessDialog({
  isOpen,
  onClose,
  ...props
}: ReprocessProps & { readonly isOpen: boolean; readonly onClose: () => void }) {
  // The requested events stay the same while the list behind the dialog changes.
  const [asked, setAsked] = useState<readonly UsageEvent[]>();
  const close = () => {
    setAsked(undefined);
    onClose();
  };
  return (
    <Dialog title="Reprocess failed events" isOpen={isOpen} onClose={close}>
      {asked === undefined ? (
        <Ask {...props} onAsked={setAsked} />
      ) : (
        <Watch eventQuery={props.eventQuery} asked={asked} onClose={close} />
      )}
    </Dialog>
  );
}

function Ask({
  filters,
  eventQuery,
  events,
  onAsked,
}: ReprocessProps & { readonly onAsked: (events: readonly UsageEvent[]) => void }) {
  const { askFor, askForRange } = useReprocess();
  const [queued, setQueued] = useState(0);
  const isAtOnce = isRangeOfFailures(filters);
  const asking = useMutation({
    mutationFn: async () => {
      if (isAtOnce) {
        const { failure_code: code } = eventQuery;
        await askForRange({ ...filterBounds(eventQuery), ...(code === undefined ? {} : { code }) });
        return;
      }
      for (const [index, event] of events.entries()) {
        await askFor(event.raw_event_id);
        setQueued(index + 1);
      }
    },
    onSuccess: () => onAsked(events),
  });
  const isMore = events.length === FAILED_EVENTS_MAX;
  const number = isAtOnce && isMore ? `more than ${count(events.length)}` : count(events.length);
  return (
    <>
      <p className="text-[13px] text-ink-soft">
        {number} failed {events.length === 1 ? 'event' : 'events'} that match the filters will be rated again
        by the rules that are active at the time of each event. Events that fail again stay in this list with
        their new reason. First publish corrected rules that take effect before these events.
      </p>
      {!isAtOnce && isMore && (
        <p className="mt-2 text-[13px] text-ink-soft">
          These are the newest events. Repeat this for older ones.
        </p>
      )}
      {asking.isPending && !isAtOnce && (
        <p role="status" className="tabular mt-2 text-[13px]">
          {count(queued)} of {count(events.length)} queued.
        </p>
      )}
      {asking.isError && (
        <div className="mt-4">
          <FailureNote error={asking.error} />
        </div>
      )}
      <DialogActions>
        <CancelButton />
        <Button look="primary" isBusy={asking.isPending} onClick={() => asking.mutate()}>
          Reprocess {number}
        </Button>
      </DialogActions>
    </>
  );
}

/** Polls the failed events until each was rated again. After closing, the service continues. */
function Watch({
  eventQuery,
  asked,
  onClose,
}: {
  readonly eventQuery: EventQuery;
  readonly asked: readonly UsageEvent[];
  readonly onClose: () => void;
}) {
  const project = useProjectClient();
  const { refetchAll } = useReprocess();
  // Without the failure code, because events may now fail for another reason.
  const { failure_code: _code, ...others } = eventQuery;
  const progress = useQuery({
    queryKey: [
      'reprocess-progress',
      project.projectId,
      others,
      asked.map(({ raw_event_id }) => raw_event_id),
    ],
    queryFn: async ({ signal }): Promise<Progress> =>
      progressOf(asked, await failedEvents(project, others, signal)),
    refetchInterval: ({ state }) => ((state.data?.rated ?? 0) < asked.length ? WATCH_MS : false),
    gcTime: 0,
  });
  const { rated, failedAgain } = progress.data ?? { rated: 0, failedAgain: 0 };
  const share = asked.length === 0 ? 1 : rated / asked.length;
  const close = () => {
    void refetchAll();
    onClose();
  };
  return (
    <>
      <p role="status" className="tabular text-[13px]">
        {count(rated)} of {count(asked.length)} reprocessed
        {failedAgain > 0 ? `, ${count(failedAgain)} failed again` : ''}.
      </p>
      <ShareBar share={share} className="mt-3" />
      {progress.isError && (
        <div className="mt-4">
          <ReadFailure of={progress} />
        </div>
      )}
      <DialogActions>
        <Button look="primary" onClick={close}>
          {share === 1 ? 'Done' : 'Continue in background'}
        </Button>
      </DialogActions>
    </>
  );
}
