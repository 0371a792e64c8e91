import type { UsageEvent, UsageEventDetail } from '@tollgate/contract';
import { ChevronDown, ChevronUp, RotateCw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useMay } from '../../api/session.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { Button, IconButton } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { Fact, Facts } from '../../ui/facts.js';
import { InlineLink } from '../../ui/inline-link.js';
import { FailureNote, ReadFailure, Skeleton } from '../../ui/states.js';
import { ReplaceEventDialog } from '../corrections/replace-event-dialog.js';
import { RevisionHistory } from '../corrections/revision-history.js';
import { VoidEventsDialog } from '../corrections/void-events-dialog.js';
import { useEvent, useReprocess } from './api.js';
import { Explanation } from './event-explanation.js';
import { EventBadge, eventSubject } from './event-table.js';

interface PanelProps {
  readonly eventId: string;
  /** The events before and after this one in the list. */
  readonly newerId: string | undefined;
  readonly olderId: string | undefined;
  readonly onChoose: (eventId: string) => void;
  readonly onClose: () => void;
}

/**
 * One event: the JSON that was sent, and the calculation of its charges. Text is only typed in the dialogs above it,
 * so it closes without a question.
 */
export function EventPanel({ eventId, newerId, olderId, onChoose, onClose }: PanelProps) {
  const detail = useEvent(eventId);
  const [action, setAction] = useState<EventAction>();
  // Keys belong to the dialog that is open above this one.
  const neighbours = action === undefined ? { newerId, olderId } : { newerId: undefined, olderId: undefined };
  useNeighbourKeys({ ...neighbours, onChoose });
  return (
    <Dialog title="Event" description={eventId} isOpen isWide isDirty={false} onClose={onClose}>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <IconButton
          label="Newer event (k)"
          disabled={newerId === undefined}
          onClick={() => newerId !== undefined && onChoose(newerId)}
        >
          <ChevronUp size={16} />
        </IconButton>
        <IconButton
          label="Older event (j)"
          disabled={olderId === undefined}
          onClick={() => olderId !== undefined && onChoose(olderId)}
        >
          <ChevronDown size={16} />
        </IconButton>
        <span className="ml-auto flex flex-wrap gap-2">
          {detail.data !== undefined && <EventActions event={detail.data} onAction={setAction} />}
          <CopyButton size="small" text={window.location.href} label="Copy link" />
        </span>
      </div>
      {detail.isError && <ReadFailure of={detail} />}
      {detail.isPending && <Skeleton className="h-96" />}
      {detail.data !== undefined && <Detail key={eventId} detail={detail.data} />}
      {detail.data !== undefined && (
        <ReplaceEventDialog
          detail={detail.data}
          isOpen={action === 'replace'}
          onClose={() => setAction(undefined)}
        />
      )}
      <VoidEventsDialog
        eventIds={[eventId]}
        isOpen={action === 'void'}
        onClose={() => setAction(undefined)}
        onDone={() => setAction(undefined)}
      />
    </Dialog>
  );
}

type EventAction = 'void' | 'replace';

/** Corrections of one event; nothing without the permission. */
function EventActions({
  event: { status },
  onAction,
}: {
  readonly event: UsageEvent;
  readonly onAction: (action: EventAction) => void;
}) {
  if (!useMay('usage:correct')) return null;
  return (
    <>
      <Button size="small" onClick={() => onAction('replace')}>
        Replace…
      </Button>
      {status !== 'voided' && (
        <Button size="small" look="danger" onClick={() => onAction('void')}>
          Void…
        </Button>
      )}
    </>
  );
}

const NEWER_KEYS = ['k', 'ArrowLeft'];
const OLDER_KEYS = ['j', 'ArrowRight'];

/** Keys that open the newer or older event while the panel is open. */
function useNeighbourKeys({ newerId, olderId, onChoose }: Omit<PanelProps, 'eventId' | 'onClose'>): void {
  useEffect(() => {
    const onKey = ({ key, metaKey, ctrlKey, altKey }: KeyboardEvent) => {
      if (metaKey || ctrlKey || altKey) return;
      const next = NEWER_KEYS.includes(key) ? newerId : OLDER_KEYS.includes(key) ? olderId : undefined;
      if (next !== undefined) onChoose(next);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [newerId, olderId, onChoose]);
}

function Detail({ detail }: { readonly detail: UsageEventDetail }) {
  const { raw_json, metadata, 'x-billing': billing } = detail;
  return (
    <>
      {detail.failure !== null && <Failure event={detail} />}
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <EventFacts event={detail} />
          <RevisionHistory detail={detail} />
          <Explanation detail={detail} />
        </div>
        <div className="flex min-w-0 flex-col gap-5 lg:sticky lg:top-0 lg:self-start">
          <Sent title="Event as sent" value={raw_json} />
          {billing !== null && <Sent title="x-billing" value={billing} />}
          {metadata !== null && <Sent title="Metadata" value={metadata} />}
        </div>
      </div>
    </>
  );
}

function Sent({ title, value }: { readonly title: string; readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <section aria-label={title}>
      <div className="mb-2 flex items-center gap-2">
        <h3 className="mr-auto text-[13px] font-semibold">{title}</h3>
        <CopyButton size="small" text={text} />
      </div>
      <pre className="max-h-[50vh] overflow-auto rounded-lg border border-line bg-page p-3 font-mono text-xs leading-relaxed">
        {text}
      </pre>
    </section>
  );
}

function Failure({ event }: { readonly event: UsageEventDetail }) {
  const { one } = useReprocess();
  const mayRate = useMay('usage:ingest');
  return (
    <div className="mb-5 flex flex-wrap items-center gap-3 rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad">
      <p className="min-w-0 grow">
        <strong className="font-semibold">{event.failure?.code}</strong> {event.failure?.message}
        {event.failure?.path != null && <code className="ml-1 font-mono text-xs">{event.failure.path}</code>}
      </p>
      {event.failure?.code === 'unpriced' && event.unpriced.length === 0 && (
        <p className="basis-full text-ink-soft">
          The active rules now price every charge item of this event.
        </p>
      )}
      {one.isSuccess && <span role="status">Queued for reprocessing.</span>}
      {mayRate && !one.isSuccess && (
        <Button isBusy={one.isPending} onClick={() => one.mutate(event.raw_event_id)}>
          <RotateCw size={14} />
          Reprocess
        </Button>
      )}
      {one.isError && <FailureNote error={one.error} />}
    </div>
  );
}

function EventFacts({ event }: { readonly event: UsageEvent }) {
  const { id } = useProject();
  const limits = new URLSearchParams({ type: event.subject_type ?? '', id: event.subject_id ?? '' });
  return (
    <Facts>
      <Fact name="Status">
        <EventBadge event={event} />
      </Fact>
      <Fact name="Occurred">{dateTime(event.occurred_at, 'UTC')} UTC</Fact>
      <Fact name="Received">{dateTime(event.received_at, 'UTC')} UTC</Fact>
      <Fact name={event.status === 'voided' ? 'Voided' : 'Rated'}>
        {dateTime(event.processed_at, 'UTC')} UTC
      </Fact>
      <Fact name="Source">{event.source}</Fact>
      <Fact name="Subject">
        {event.subject_id === null ? (
          '—'
        ) : (
          <>
            <bdi>{eventSubject(event)}</bdi> ·{' '}
            <InlineLink href={`/p/${id}/limits?${limits}`}>View limits</InlineLink>
          </>
        )}
      </Fact>
      <Fact name="Account">
        {event.account_id === null ? (
          withoutAccount(event)
        ) : (
          <InlineLink href={`/p/${id}/billing/${event.account_id}`}>{event.account_id}</InlineLink>
        )}
      </Fact>
      {event.budget_lease_id !== null && (
        <Fact name="Lease">
          {isLeaseKnown(event) ? (
            <InlineLink href={`/p/${id}/limits/leases/${event.budget_lease_id}`}>
              {event.budget_lease_id}
            </InlineLink>
          ) : (
            event.budget_lease_id
          )}{' '}
          {event.lease_status !== null && `(${event.lease_status})`}
        </Fact>
      )}
      {event.external_event_id !== null && <Fact name="External ID">{event.external_event_id}</Fact>}
      {event.idempotency_key !== null && <Fact name="Idempotency key">{event.idempotency_key}</Fact>}
      {Object.entries(event.dimensions).map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
    </Facts>
  );
}

/** Whether the lease existed when the event was rated. */
function isLeaseKnown({ lease_status: status }: UsageEvent): boolean {
  return status !== null && status !== 'unknown';
}

/** The reason why an event has no account. */
function withoutAccount({ status, subject_id: subject }: UsageEvent): string {
  if (status === 'failed') return 'None: failed events are not routed';
  if (status === 'voided') return 'None: voided events charge nobody';
  return subject === null ? 'None: the event has no subject' : 'None: the subject had no route';
}
