import type { BudgetLease } from '@tollgate/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useProject } from '../../../project.js';
import { Select } from '../../../ui/field.js';
import { Moment } from '../../../ui/moment.js';
import { Pager } from '../../../ui/pager.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../../ui/table.js';
import type { Subject } from '../subjects/subject.js';
import { type LeaseFilter, useLeases } from './api.js';
import { LeaseBadge } from './lease-badge.js';
import { LeaseDialog } from './lease-dialog.js';
import { HoldValues } from './lease-holds.js';
import { OpenLeaseButton } from './open-lease-button.js';

const FILTERS = [
  { value: 'active', label: 'Active' },
  { value: 'closed', label: 'Closed' },
  { value: 'expired', label: 'Expired' },
  { value: '', label: 'All' },
] as const;

/** The active and past budget leases of a subject. */
export function SubjectLeases({
  subject,
  timezone,
}: {
  readonly subject: Subject;
  readonly timezone: string;
}) {
  const [filter, setFilter] = useState<LeaseFilter>('active');
  const [isOpening, setOpening] = useState(false);
  return (
    <section aria-label="Budget leases" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">
          Budget leases
          <span className="ml-2 text-xs font-normal text-ink-faint">
            amounts reserved for work in progress
          </span>
        </h2>
        <Select aria-label="Lease status" options={FILTERS} value={filter} onChange={setFilter} />
        <OpenLeaseButton onClick={() => setOpening(true)}>Open lease</OpenLeaseButton>
      </div>
      <LeaseList key={filter} subject={subject} filter={filter} timezone={timezone} />
      <LeaseDialog subject={subject} isOpen={isOpening} onClose={() => setOpening(false)} />
    </section>
  );
}

function LeaseList({
  subject,
  filter,
  timezone,
}: {
  readonly subject: Subject;
  readonly filter: LeaseFilter;
  readonly timezone: string;
}) {
  const { id: projectId } = useProject();
  const [offset, setOffset] = useState(0);
  const leases = useLeases(subject, filter, offset);
  if (leases.isError) return <ReadFailure of={leases} />;
  if (leases.data === undefined) return <Skeleton className="h-12" />;
  if (leases.data.total_count === 0) {
    return (
      <p className="text-[13px] text-ink-soft">{filter === 'active' ? 'No active leases.' : 'No leases.'}</p>
    );
  }
  return (
    <>
      <Table
        label="Budget leases"
        columns={columnsFor(`/p/${projectId}/limits/leases`, timezone)}
        rows={leases.data.budget_leases}
        keyOf={({ id }) => id}
      />
      <Pager page={leases.data} onOffset={setOffset} />
    </>
  );
}

function columnsFor(path: string, timezone: string): readonly Column<BudgetLease>[] {
  return [
    {
      title: 'Lease',
      cell: ({ id, parent_lease_id: parentId }) => (
        <>
          <Link href={`${path}/${id}`} className={`${ROW_TARGET} font-mono text-xs`}>
            {id}
          </Link>
          {parentId !== null && <span className="block text-xs text-ink-faint">part of {parentId}</span>}
        </>
      ),
    },
    { title: 'Metric', cell: ({ metric }) => metric ?? 'All usage' },
    {
      title: 'Reserved',
      isNumber: true,
      cell: (lease) => <HoldValues lease={lease} of="reserved" />,
    },
    {
      title: 'Used',
      isNumber: true,
      cell: (lease) => <HoldValues lease={lease} of="used" />,
    },
    {
      title: 'Remaining',
      isNumber: true,
      cell: (lease) => <HoldValues lease={lease} of="remaining" />,
    },
    {
      title: 'Ends',
      cell: ({ closed_at, expires_at }) => <Moment at={closed_at ?? expires_at} timezone={timezone} />,
    },
    { title: 'Status', isTitleHidden: true, cell: ({ status }) => <LeaseBadge status={status} /> },
  ];
}
