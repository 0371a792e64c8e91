import type { UsageEvent } from '@tollgate/contract';
import { Activity, ArrowUp } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { count } from '../../format.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { InlineLink } from '../../ui/inline-link.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { useEvents, useNewestEvents } from './api.js';
import { type Feed, feedOf } from './event-feed.js';
import { EventPanel } from './event-panel.js';
import { EventTable } from './event-table.js';
import type { Question } from './filters.js';

/** The list counts as read from its beginning while the page is scrolled less than that. */
const TOP_PX = 48;
/** After so many the list is read anew, so that it does not grow for as long as one follows. */
const LET_IN_MAX = 500;

/** The events that fit, and the one that is looked at, which stays open whatever becomes of the list meanwhile. */
export function EventList({
  question,
  isFiltered,
  isLive,
  chosenId,
  onChoose,
}: {
  readonly question: Question;
  readonly isFiltered: boolean;
  readonly isLive: boolean;
  readonly chosenId: string | null;
  readonly onChoose: (eventId: string | undefined) => void;
}) {
  const events = useEvents(question);
  const isAtTop = useIsAtTop();
  const isReading = !isAtTop || chosenId !== null;
  const feed = useFeed({ events, question, isLive, isReading });
  return (
    <>
      {events.isError && <ReadFailure of={events} />}
      {events.isPending && <Skeleton className="h-96" />}
      {events.isSuccess && (
        <Rows
          events={events}
          feed={feed}
          question={question}
          isFiltered={isFiltered}
          isReading={isReading}
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
  question,
  isFiltered,
  isReading,
  onChoose,
}: {
  readonly events: ReturnType<typeof useEvents>;
  readonly feed: ReturnType<typeof useFeed>;
  readonly question: Question;
  readonly isFiltered: boolean;
  readonly isReading: boolean;
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
      {rows.length > 0 && <EventTable rows={rows} question={question} onChoose={onChoose} />}
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

/** What belongs to one question, and not to the next. */
interface LetIn {
  readonly question: Question;
  readonly events: readonly UsageEvent[];
}

/** The rows, and what is new: let in at once while nobody reads, and otherwise when it is asked for. */
function useFeed({
  events,
  question,
  isLive,
  isReading,
}: {
  readonly events: ReturnType<typeof useEvents>;
  readonly question: Question;
  readonly isLive: boolean;
  readonly isReading: boolean;
}): Feed & { readonly show: () => void } {
  const newest = useNewestEvents(question, isLive);
  const [lastLetIn, setLastLetIn] = useState<LetIn>();
  const letIn = lastLetIn?.question === question ? lastLetIn.events : [];
  const setLetIn = (events: readonly UsageEvent[]) => setLastLetIn({ question, events });
  const read = events.data?.pages.flatMap((page) => page.events) ?? [];
  const feed = feedOf([...letIn, ...read], isLive && events.isSuccess ? newest.data : undefined);
  const show = () => {
    if (feed.hasGap || letIn.length > LET_IN_MAX) {
      setLetIn([]);
      void events.refetch();
    } else setLetIn([...feed.arrived, ...letIn]);
  };
  const arrived = feed.arrived.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has arrived is the reason
  useEffect(() => {
    if (arrived > 0 && !isReading && !events.isFetching) show();
  }, [arrived, isReading, events.isFetching]);
  return { ...feed, show };
}

/** What is new is let in when whoever reads asks for it. */
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
    <EmptyState icon={<Activity size={20} />} title="No events">
      None fits these filters.
    </EmptyState>
  ) : (
    <EmptyState
      icon={<Activity size={20} />}
      title="No events yet"
      action={<InlineLink href={`/p/${id}/start`}>Send the first one</InlineLink>}
    >
      Events appear here about a second after they were sent.
    </EmptyState>
  );
}
