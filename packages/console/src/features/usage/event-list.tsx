import type { UsageEvent } from '@tollgate/contract';
import { Activity } from 'lucide-react';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { exactSum } from '../../exact-sum.js';
import { dateTime, money } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { type EventFilters, NO_FILTERS, useEvents } from './api.js';
import { EventFilterBar } from './event-filter-bar.js';
import { EventPanel } from './event-panel.js';

/** The events of a project, with what they came to; choosing one shows all of it. */
export function EventList() {
  const [parameters] = useSearchParams();
  const [filters, setFilters] = useState<EventFilters>({ ...NO_FILTERS, ...Object.fromEntries(parameters) });
  const [isLive, setLive] = useState(false);
  const [chosen, setChosen] = useState<UsageEvent>();
  const events = useEvents(filters, isLive);
  const rows = events.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <div className="px-4 pb-10 sm:px-6">
      <EventFilterBar filters={filters} onChange={setFilters} isLive={isLive} onLive={setLive} />
      {events.isError && <FailureNote error={events.error} onRetry={() => void events.refetch()} />}
      {events.isPending && <Skeleton className="h-96" />}
      {events.isSuccess && rows.length === 0 && (
        <EmptyState icon={<Activity size={20} />} title="No events">
          {Object.values(filters).every((value) => value === '')
            ? 'Events appear here about a second after they were sent.'
            : 'None fits these filters.'}
        </EmptyState>
      )}
      {rows.length > 0 && <EventTable rows={rows} onChoose={setChosen} />}
      {events.hasNextPage && !isLive && (
        <div className="mt-4 flex justify-center">
          <Button isBusy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
      {chosen !== undefined && <EventPanel event={chosen} onClose={() => setChosen(undefined)} />}
    </div>
  );
}

function EventTable({
  rows,
  onChoose,
}: {
  readonly rows: readonly UsageEvent[];
  readonly onChoose: (event: UsageEvent) => void;
}) {
  return (
    <div className="overflow-x-auto rounded-xl border border-line bg-panel shadow-xs">
      <table className="w-full min-w-2xl text-[13px]">
        <thead className="text-left text-xs text-ink-faint">
          <tr>
            {['Occurred (UTC)', 'Subject', 'Source', 'Items', 'Amount', ''].map((title, index) => (
              <th
                key={title}
                scope="col"
                className={`px-4 py-2.5 font-medium ${index === 4 ? 'text-right' : ''}`}
              >
                {title === '' ? <span className="sr-only">Status</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((event) => (
            <EventRow key={event.raw_event_id} event={event} onChoose={() => onChoose(event)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EventRow({ event, onChoose }: { readonly event: UsageEvent; readonly onChoose: () => void }) {
  const { occurred_at, subject_type, subject_id, source, charge_items } = event;
  return (
    <tr className="relative border-t border-line hover:bg-sunken">
      <td className="px-4 py-2 whitespace-nowrap">
        <button type="button" onClick={onChoose} className="after:absolute after:inset-0">
          {dateTime(occurred_at, 'UTC')}
        </button>
      </td>
      <td className="max-w-56 truncate px-4 py-2 text-ink-soft">
        {subject_id === null ? '—' : `${subject_type}/${subject_id}`}
      </td>
      <td className="max-w-40 truncate px-4 py-2 text-ink-soft">{source}</td>
      <td className="max-w-64 truncate px-4 py-2 text-ink-soft">
        {charge_items.map(({ metric }) => metric).join(', ') || '—'}
      </td>
      <td className="px-4 py-2 text-right whitespace-nowrap">{amountsOf(event)}</td>
      <td className="px-4 py-2 text-right">
        <EventBadge event={event} />
      </td>
    </tr>
  );
}

export function EventBadge({ event: { status, posting } }: { readonly event: UsageEvent }) {
  if (status === 'failed') return <Badge tone="bad">failed</Badge>;
  if (posting === 'posted') return <Badge tone="good">posted</Badge>;
  return <Badge>{posting ?? status}</Badge>;
}

/** What the event came to, in each currency. */
function amountsOf({ charge_items }: UsageEvent): string {
  const currencies = new Set(charge_items.flatMap(({ currency }) => currency ?? []));
  const sums = [...currencies].map((currency) => {
    const items = charge_items.filter((item) => item.currency === currency);
    return money(exactSum(items.map(({ amount }) => amount)), currency);
  });
  return sums.join(' + ') || '—';
}
