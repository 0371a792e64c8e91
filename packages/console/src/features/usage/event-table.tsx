import type { UsageEvent } from '@tollgate/contract';
import { PencilLine } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { totalsOf } from '../../exact-sum.js';
import { dateTime } from '../../format.js';
import { Amount } from '../../ui/amount.js';
import { Badge } from '../../ui/badge.js';
import { type Column, PhoneLine, ROW_TARGET, Table } from '../../ui/table.js';
import { type EventSelection, selectionColumn } from './event-selection.js';
import type { EventQuery } from './filters.js';
import { fittingItems } from './fitting-items.js';

/** A table of events; a click on a row opens the event. */
export function EventTable({
  rows,
  eventQuery,
  selection,
  onChoose,
}: {
  readonly rows: readonly UsageEvent[];
  /** The filters that found the rows; only matching charge items are shown. */
  readonly eventQuery: EventQuery;
  /** Undefined if events cannot be selected. */
  readonly selection: EventSelection | undefined;
  readonly onChoose: (event: UsageEvent) => void;
}) {
  const columns: readonly Column<UsageEvent>[] = [
    ...(selection === undefined ? [] : [selectionColumn(selection, rows)]),
    {
      title: 'Occurred (UTC)',
      cell: (event) => (
        <>
          <button type="button" className={ROW_TARGET} onClick={() => onChoose(event)}>
            {dateTime(event.occurred_at, 'UTC')}
          </button>
          <PhoneLine>{eventSubject(event)}</PhoneLine>
        </>
      ),
    },
    { title: 'Subject', isForWideScreens: true, cell: (event) => <Soft>{eventSubject(event)}</Soft> },
    { title: 'Source', isForWideScreens: true, cell: ({ source }) => <Soft>{source}</Soft> },
    {
      title: 'Items',
      isForWideScreens: true,
      cell: (event) =>
        event.failure === null ? (
          <Soft>
            {fittingItems(event, eventQuery)
              .map(({ metric }) => metric)
              .join(', ') || '—'}
          </Soft>
        ) : (
          <span title={event.failure.message} className="text-bad">
            {event.failure.message}
          </span>
        ),
    },
    {
      title: 'Amount',
      isNumber: true,
      cell: (event) => amountsOf(fittingItems(event, eventQuery)),
    },
    { title: 'Status', isTitleHidden: true, isNumber: true, cell: (event) => <EventBadges event={event} /> },
  ];
  return <Table label="Events" columns={columns} rows={rows} keyOf={({ raw_event_id }) => raw_event_id} />;
}

function Soft({ children }: { readonly children: string }) {
  return (
    <span title={children} className="text-ink-soft">
      {children}
    </span>
  );
}

export function eventSubject({ subject_type, subject_id }: UsageEvent): string {
  return subject_id === null ? '—' : `${subject_type}/${subject_id}`;
}

function EventBadges({ event }: { readonly event: UsageEvent }) {
  const { notes } = event;
  return (
    <span className="inline-flex gap-1.5">
      {notes.length > 0 && (
        <Badge tone="warn" title={notes.map(({ message }) => message).join('\n')}>
          {notes.length === 1 ? '1 note' : `${notes.length} notes`}
        </Badge>
      )}
      {event.revision > 1 && (
        <span title={`Corrected: this is revision ${event.revision}.`} className="self-center text-ink-faint">
          <PencilLine size={14} aria-hidden />
          <span className="sr-only">corrected,</span>
        </span>
      )}
      <EventBadge event={event} />
    </span>
  );
}

export function EventBadge({
  event: { status, posting, failure },
}: {
  readonly event: Pick<UsageEvent, 'status' | 'posting' | 'failure'>;
}) {
  if (status === 'failed') return <Badge tone="bad">{failure?.code ?? 'failed'}</Badge>;
  if (status === 'voided') return <Badge>voided</Badge>;
  if (posting === 'posted') return <Badge tone="good">posted</Badge>;
  return <Badge>{posting ?? status}</Badge>;
}

/** The total of charge items in each currency. */
function amountsOf(items: UsageEvent['charge_items']): ReactNode {
  const totals = totalsOf(items);
  if (totals.length === 0) return '—';
  return totals.map(({ amount, currency }, index) => (
    <Fragment key={currency}>
      {index > 0 && ' + '}
      <Amount value={amount} currency={currency} />
    </Fragment>
  ));
}
