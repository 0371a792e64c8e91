import type { CorrectionSummary } from '@tollgate/contract';
import { PencilRuler } from 'lucide-react';
import { Link } from 'wouter';
import { type AddressChanges, useAddress } from '../../address.js';
import { useMay } from '../../api/session.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { Select } from '../../ui/field.js';
import { FilterInput } from '../../ui/filter-input.js';
import { Pager } from '../../ui/pager.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useActorNames } from '../settings/actor-names.js';
import { useCorrections } from './api.js';
import { ACTION_LABELS, CorrectionBadge, STATUS_OPTIONS } from './correction-labels.js';
import { eventCountText } from './state-text.js';

/** All corrections of the project. The filters and the page are in the address. */
export function CorrectionsPage() {
  const [parameters, changeAddress] = useAddress();
  const status = STATUS_OPTIONS.find(({ value }) => value === parameters.get('status'))?.value ?? '';
  const eventId = parameters.get('raw_event_id') ?? '';
  const offset = Math.max(Number.parseInt(parameters.get('offset') ?? '0', 10) || 0, 0);
  const put = (changes: AddressChanges) => changeAddress(changes, { replace: true });
  if (!useMay('usage:read')) {
    return (
      <EmptyState title="You cannot view corrections">This key lacks the permission usage:read.</EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
      <search className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="Status"
          className="w-[calc(50%-0.25rem)] sm:w-auto"
          options={STATUS_OPTIONS}
          value={status}
          onChange={(chosen) => put({ status: chosen, offset: '' })}
        />
        <FilterInput
          label="Event ID"
          value={eventId}
          onChange={(text) => put({ raw_event_id: text, offset: '' })}
        />
      </search>
      <CorrectionList
        filter={{ status, raw_event_id: eventId }}
        offset={offset}
        onOffset={(next) => put({ offset: next === 0 ? '' : next })}
      />
    </div>
  );
}

function CorrectionList({
  filter,
  offset,
  onOffset,
}: {
  readonly filter: Parameters<typeof useCorrections>[0];
  readonly offset: number;
  readonly onOffset: (offset: number) => void;
}) {
  const { id } = useProject();
  const actorName = useActorNames();
  const corrections = useCorrections(filter, offset);
  if (corrections.isError) return <ReadFailure of={corrections} />;
  if (corrections.isPending) return <Skeleton className="h-64" />;
  const rows = corrections.data.corrections;
  const isFiltered = filter.status !== '' || filter.raw_event_id !== '';
  if (rows.length === 0) {
    return isFiltered ? (
      <EmptyState title="No matching corrections">Change or clear the filters.</EmptyState>
    ) : (
      <EmptyState icon={<PencilRuler size={20} />} title="No corrections yet">
        A correction changes what events have charged: it voids them, rates them again or replaces their
        content. Choose Correct… in the list of events.
      </EmptyState>
    );
  }
  return (
    <>
      <Table
        label="Corrections"
        columns={columnsFor(id, actorName)}
        rows={rows}
        keyOf={(correction) => correction.id}
      />
      <Pager page={corrections.data} onOffset={onOffset} />
    </>
  );
}

function columnsFor(
  projectId: string,
  actorName: (actor: string) => string,
): readonly Column<CorrectionSummary>[] {
  return [
    {
      title: 'Requested (UTC)',
      cell: ({ id, created_at }) => (
        <Link href={`/p/${projectId}/usage/corrections/${id}`} className={ROW_TARGET}>
          {dateTime(created_at, 'UTC')}
        </Link>
      ),
    },
    { title: 'Status', cell: ({ status }) => <CorrectionBadge status={status} /> },
    { title: 'Action', cell: ({ action }) => ACTION_LABELS[action] },
    {
      title: 'Reason',
      cell: ({ reason }) => (
        <bdi title={reason} className="text-ink-soft">
          {reason}
        </bdi>
      ),
    },
    { title: 'Events', isNumber: true, cell: eventCountText },
    { title: 'By', cell: ({ created_by }) => <bdi className="text-ink-soft">{actorName(created_by)}</bdi> },
  ];
}
