import type { UsageEvent, UsageEventDetail } from '@tollgate/contract';
import { RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { dateTime, decimal, money } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { useEvent, useReprocess } from './api.js';
import { EventBadge } from './event-list.js';

/** Everything about one event: what was sent, beside how each number came about. */
export function EventPanel({ event, onClose }: { readonly event: UsageEvent; readonly onClose: () => void }) {
  const detail = useEvent(event.raw_event_id);
  return (
    <Dialog title="Event" description={event.raw_event_id} isOpen isWide onClose={onClose}>
      {event.failure !== null && <Failure event={event} />}
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <Facts event={event} />
          {detail.data !== undefined && <Explanation detail={detail.data} />}
        </div>
        <section aria-label="As it was sent" className="min-w-0">
          <h3 className="mb-2 text-[13px] font-semibold">As it was sent</h3>
          {detail.isError && <FailureNote error={detail.error} />}
          {detail.isPending && <Skeleton className="h-64" />}
          {detail.data !== undefined && (
            <pre className="max-h-[50vh] overflow-auto rounded-lg border border-line bg-page p-3 font-mono text-xs leading-relaxed">
              {JSON.stringify(detail.data.raw_json, null, 2)}
            </pre>
          )}
        </section>
      </div>
    </Dialog>
  );
}

function Failure({ event }: { readonly event: UsageEvent }) {
  const reprocess = useReprocess();
  return (
    <div className="mb-5 flex flex-wrap items-center gap-3 rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad">
      <p className="min-w-0 grow">
        <strong className="font-semibold">{event.failure?.code}</strong> {event.failure?.message}
        {event.failure?.path != null && <code className="ml-1 font-mono text-xs">{event.failure.path}</code>}
      </p>
      {reprocess.isSuccess ? (
        <span>It will be rated again.</span>
      ) : (
        <Button isBusy={reprocess.isPending} onClick={() => reprocess.mutate(event)}>
          <RotateCw size={14} />
          Rate again
        </Button>
      )}
      {reprocess.isError && <FailureNote error={reprocess.error} />}
    </div>
  );
}

function Facts({ event }: { readonly event: UsageEvent }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Status', <EventBadge key="status" event={event} />],
    ['Occurred', `${dateTime(event.occurred_at, 'UTC')} UTC`],
    ['Received', `${dateTime(event.received_at, 'UTC')} UTC`],
    ['Source', event.source],
    ['Subject', event.subject_id === null ? '—' : `${event.subject_type}/${event.subject_id}`],
    ['Account', event.account_id ?? '—'],
    ['Idempotency key', event.idempotency_key ?? '—'],
    ...Object.entries(event.dimensions).map(([name, value]) => [name, value] as const),
  ];
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1.5 text-[13px]">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="truncate">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Explanation({ detail }: { readonly detail: UsageEventDetail }) {
  const { charge_items: items } = detail.explanation;
  if (items.length === 0) return null;
  return (
    <section aria-label="How the numbers came about">
      <h3 className="mb-2 text-[13px] font-semibold">How the numbers came about</h3>
      <ul className="flex flex-col gap-2">
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own, and never move
          <li key={index} className="tabular rounded-lg border border-line px-3 py-2 text-[13px]">
            <div className="flex justify-between gap-4">
              <span className="font-medium">{item.metric}</span>
              <span title={item.amount.value}>{money(item.amount.value, item.amount.currency)}</span>
            </div>
            <p className="mt-0.5 text-xs text-ink-soft">
              {decimal(item.quantity.value)}
              {item.unit_price.value !== null && ` × ${decimal(item.unit_price.value)}`}
            </p>
            <p className="mt-1 font-mono text-xs break-all text-ink-faint">
              {[item.quantity.path, item.unit_price.expression, item.amount.expression]
                .filter(Boolean)
                .join(' · ')}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
