import type { UsageEvent } from '@tollgate/contract';
import { Activity, ArrowUp } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useMay } from '../../api/session.js';
import { count } from '../../format.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { InlineLink } from '../../ui/inline-link.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { useEvents, useNewestEvents } from './api.js';
import { type Feed, feedOf } from './event-feed.js';
import { EventPanel } from './event-panel.js';
import { type EventSelection, SelectionBar, useEventSelection } from './event-selection.js';
import { EventTable } from './event-table.js';
import type { EventQuery } from './filters.js';

/** Below this scroll position, the page counts as being at its top. */
const TOP_PX = 48;
/** After this many new events the list is fetched again, so that it does not grow without end while following. */
const ADDED_MAX = 500;

/** The matching events, and the opened event, which stays open while the list changes. */
export function EventList({
  eventQuery,
  isFiltered,
  isLive,
  chosenId,
  onChoose,
}: {
  readonly eventQuery: EventQuery;
  readonly isFiltered: boolean;
  readonly isLive: boolean;
  readonly chosenId: string | null;
  readonly onChoose: (eventId: string | undefined) => void;
}) {
  const events = useEvents(eventQuery);
  const mayCorrect = useMay('usage:correct');
  const selection = useEventSelection(eventQuery);
  const isAtTop = useIsAtTop();
  const isReading = !isAtTop || chosenId !== null;
  const feed = useFeed({ events, eventQuery, isLive, isReading });
  return (
    <>
      {events.isError && <ReadFailure of={events} />}
      {events.isPending && <Skeleton className="h-96" />}
      {events.isSuccess && (
        <Rows
          events={events}
          feed={feed}
          eventQuery={eventQuery}
          isFiltered={isFiltered}
          isReading={isReading}
          selection={mayCorrect ? selection : undefined}
          onChoose={({ raw_event_id }) => onChoose(raw_event_id)}
        />
      )}
      {chosenId !== null && (
        <EventPanel
          eventId={chosenId}
          {...neighboursOf(feed.rows, chosenId)}
          onChoose={onChoose}
          onClose={() => onChoose(undefined)}
        />
      )}
    </>
  );
}

function Rows({
  events,
  feed: { rows, arrived, hasGap, show },
  eventQuery,
  isFiltered,
  isReading,
  selection,
  onChoose,
}: {
  readonly events: ReturnType<typeof useEvents>;
  readonly feed: ReturnType<typeof useFeed>;
  readonly eventQuery: EventQuery;
  readonly isFiltered: boolean;
  readonly isReading: boolean;
  readonly selection: EventSelection | undefined;
  readonly onChoose: (event: UsageEvent) => void;
}) {
  return (
    <>
      {arrived.length > 0 && isReading && (
        <ArrivedButton
          arrived={arrived.length}
          hasGap={hasGap}
          onShow={() => {
            show();
            window.scrollTo(0, 0);
          }}
        />
      )}
      {rows.length === 0 && <NoEvents isFiltered={isFiltered} />}
      {selection !== undefined && <SelectionBar selection={selection} />}
      {rows.length > 0 && (
        <EventTable rows={rows} eventQuery={eventQuery} selection={selection} onChoose={onChoose} />
      )}
      {events.hasNextPage && (
        <Button
          className="self-center"
          isBusy={events.isFetchingNextPage}
          onClick={() => void events.fetchNextPage()}
        >
          Show older
        </Button>
      )}
    </>
  );
}

/** New events that were added to the list of one query. */
interface AddedEvents {
  readonly eventQuery: EventQuery;
  readonly events: readonly UsageEvent[];
}

/** The rows and the new events. New events are added at once at the top of the page, otherwise on request. */
function useFeed({
  events,
  eventQuery,
  isLive,
  isReading,
}: {
  readonly events: ReturnType<typeof useEvents>;
  readonly eventQuery: EventQuery;
  readonly isLive: boolean;
  readonly isReading: boolean;
}): Feed & { readonly show: () => void } {
  const newest = useNewestEvents(eventQuery, isLive);
  const [lastAdded, setLastAdded] = useState<AddedEvents>();
  const added = lastAdded?.eventQuery === eventQuery ? lastAdded.events : [];
  const setAdded = (events: readonly UsageEvent[]) => setLastAdded({ eventQuery, events });
  const read = events.data?.pages.flatMap((page) => page.events) ?? [];
  const feed = feedOf([...added, ...read], isLive && events.isSuccess ? newest.data : undefined);
  const show = () => {
    if (feed.hasGap || added.length > ADDED_MAX) {
      setAdded([]);
      void events.refetch();
    } else setAdded([...feed.arrived, ...added]);
  };
  const arrived = feed.arrived.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new events trigger it
  useEffect(() => {
    if (arrived > 0 && !isReading && !events.isFetching) show();
  }, [arrived, isReading, events.isFetching]);
  return { ...feed, show };
}

/** Adds the new events to the list on request. */
function ArrivedButton({
  arrived,
  hasGap,
  onShow,
}: {
  readonly arrived: number;
  readonly hasGap: boolean;
  readonly onShow: () => void;
}) {
  return (
    <div className="sticky top-14 z-10 flex justify-center lg:top-3">
      <Button look="primary" className="rounded-full" onClick={onShow}>
        <ArrowUp size={14} />
        {hasGap ? `${count(arrived)} or more` : count(arrived)} new {arrived === 1 ? 'event' : 'events'}
      </Button>
    </div>
  );
}

function neighboursOf(rows: readonly UsageEvent[], id: string) {
  const index = rows.findIndex(({ raw_event_id }) => raw_event_id === id);
  return {
    newerId: index > 0 ? rows[index - 1]?.raw_event_id : undefined,
    olderId: index >= 0 ? rows[index + 1]?.raw_event_id : undefined,
  };
}

function useIsAtTop(): boolean {
  return useSyncExternalStore(
    (listener) => {
      window.addEventListener('scroll', listener, { passive: true });
      return () => window.removeEventListener('scroll', listener);
    },
    () => window.scrollY < TOP_PX,
  );
}

function NoEvents({ isFiltered }: { readonly isFiltered: boolean }) {
  const { id } = useProject();
  return isFiltered ? (
    <EmptyState icon={<Activity size={20} />} title="No matching events">
      Change or clear the filters.
    </EmptyState>
  ) : (
    <EmptyState
      icon={<Activity size={20} />}
      title="No events yet"
      action={<InlineLink href={`/p/${id}/start`}>Send your first event</InlineLink>}
    >
      Events appear here about a second after you send them.
    </EmptyState>
  );
}
