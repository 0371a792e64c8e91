import { useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../api/session.js';
import { count } from '../../format.js';
import { useProjectClient } from '../../project.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { FAILED_EVENTS_MAX, failedEvents, groupFailures } from './failed-events.js';
import type { EventQuery, Filters } from './filters.js';
import { ReprocessDialog } from './reprocess-dialog.js';

/** Counts of failed events by reason. A click on a reason filters the list. All matching events can be reprocessed. */
export function Failures({
  filters,
  eventQuery,
  onCode,
}: {
  readonly filters: Filters;
  readonly eventQuery: EventQuery;
  readonly onCode: (code: string | undefined) => void;
}) {
  const project = useProjectClient();
  const [isAsking, setAsking] = useState(false);
  const mayRate = useMay('usage:ingest');
  const { failure_code: chosen, ...others } = eventQuery;
  const failed = useQuery({
    queryKey: ['events', project.projectId, others, 'failed'],
    queryFn: ({ signal }) => failedEvents(project, others, signal),
    refetchOnWindowFocus: false,
  });
  const events = failed.data ?? [];
  const fitting = events.filter(({ failure }) => chosen === undefined || failure?.code === chosen);
  if (failed.isError) return <ReadFailure of={failed} />;
  if (failed.isPending) return <Skeleton className="h-20" />;
  if (events.length === 0) return null;
  return (
    <section aria-label="Failures by reason" className="rounded-xl border border-line bg-panel p-4 shadow-xs">
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[13px] font-semibold">
          {events.length === FAILED_EVENTS_MAX
            ? `Newest ${count(events.length)} failed events by reason`
            : `${count(events.length)} failed ${events.length === 1 ? 'event' : 'events'} by reason`}
        </h2>
        {mayRate && (
          <Button size="small" disabled={fitting.length === 0} onClick={() => setAsking(true)}>
            <RotateCw size={13} />
            Reprocess {count(fitting.length)}…
          </Button>
        )}
      </div>
      <ul className="flex flex-col">
        {groupFailures(events).map(({ code, count: times, message }) => (
          <li key={code}>
            <button
              type="button"
              aria-pressed={chosen === code}
              onClick={() => onCode(chosen === code ? undefined : code)}
              className={classes(
                'tabular flex w-full flex-wrap items-baseline gap-x-3 rounded-md px-2 py-1 text-left text-[13px] hover:bg-sunken sm:flex-nowrap',
                chosen === code && 'bg-accent-soft',
              )}
            >
              <span className="min-w-5 shrink-0 font-medium sm:w-12 sm:text-right">{count(times)}</span>
              <code className="shrink-0 font-mono text-xs">{code}</code>
              <span className="min-w-0 break-words text-ink-soft">{message}</span>
            </button>
          </li>
        ))}
      </ul>
      <ReprocessDialog
        filters={filters}
        eventQuery={eventQuery}
        events={fitting}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
      />
    </section>
  );
}
