import type { IngestStatus, UsageEvent } from '@tollgate/contract';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { nowS } from '../../clock.js';
import { count } from '../../format.js';
import { useProject } from '../../project.js';
import { timeAgo } from './time-ago.js';

export interface Arrivals {
  readonly status: IngestStatus;
  /** Newest first. */
  readonly events: readonly UsageEvent[];
}

const SECOND_MS = 1_000;

/** The number of received events, and the reason of a failure. */
export function ArrivalState({ arrivals: { status, events } }: { readonly arrivals: Arrivals }) {
  const { processed, failed, pending } = status;
  const received = processed + failed + pending;
  if (received === 0) {
    return (
      <p role="status" className="flex items-center gap-2">
        <span aria-hidden className="relative flex size-2">
          <span className="absolute inline-flex size-full animate-ping rounded-full bg-accent opacity-60" />
          <span className="relative inline-flex size-2 rounded-full bg-accent" />
        </span>
        Paste this command into a terminal. Waiting for the first event…
      </p>
    );
  }
  return (
    <>
      <p role="status">
        Received {eventCount(received)}
        <LastReceived events={events} />.{pending > 0 && ` ${eventCount(pending)} in progress.`}
      </p>
      {failed > 0 && <Failed count={failed} event={events.find((event) => event.status === 'failed')} />}
    </>
  );
}

function eventCount(events: number): string {
  return `${count(events)} event${events === 1 ? '' : 's'}`;
}

function LastReceived({ events }: { readonly events: readonly UsageEvent[] }) {
  const now = useNow();
  if (events.length === 0) return null;
  const last = Math.max(...events.map(({ received_at }) => received_at));
  // Hidden from screen readers, which would announce it every second.
  return <span aria-hidden>, last one {timeAgo(last, now)}</span>;
}

function useNow(): number {
  const [now, setNow] = useState(nowS);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowS()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function Failed({
  count: failed,
  event,
}: {
  readonly count: number;
  readonly event: UsageEvent | undefined;
}) {
  const { id } = useProject();
  return (
    <div role="alert" className="mt-2 rounded-lg bg-bad-soft px-3.5 py-2.5 text-bad">
      <p className="break-words">
        {eventCount(failed)} failed{event?.failure != null && `: ${event.failure.message}`}
        {event?.failure?.path != null && <code className="ml-1 font-mono text-xs">{event.failure.path}</code>}
      </p>
      <Link href={`/p/${id}/usage?status=failed`} className="mt-1 inline-block font-medium underline">
        View failed events
      </Link>
    </div>
  );
}
