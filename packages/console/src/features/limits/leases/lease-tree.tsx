import type { BudgetLease, LeaseHold } from '@tollgate/contract';
import { CornerDownRight, Split } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { count, decimalExact } from '../../../format.js';
import { useProject } from '../../../project.js';
import { Moment } from '../../../ui/moment.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { type Column, Table } from '../../../ui/table.js';
import { shareOf } from '../subjects/limit-status.js';
import { subjectHref, subjectName, subjectOf } from '../subjects/subject.js';
import { useLeaseTree } from './api.js';
import { LeaseBadge } from './lease-badge.js';
import { reservedBy, unitOfHold } from './lease-holds.js';
import { remainingOf, type TreeRow, treeRows } from './tree-rows.js';

/** The last characters of an ID, which differ between leases of the same moment. */
const ID_TAIL_CHARS = 8;

/** The tree to which a lease belongs: the leases that it is a part of, its parts, and what remains of each. */
export function LeaseTree({ lease, action }: { readonly lease: BudgetLease; readonly action: ReactNode }) {
  const tree = useLeaseTree(lease.id);
  return (
    <section aria-label="Parts" className="flex flex-col gap-3 px-4 pb-10 sm:px-6">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">
          Parts
          <span className="ml-2 text-xs font-normal text-ink-faint">
            leases that take what they hold from another lease
          </span>
        </h2>
        {action}
      </div>
      {tree.isError ? (
        <ReadFailure of={tree} />
      ) : tree.data === undefined ? (
        <Skeleton className="h-24" />
      ) : (
        <Tree lease={lease} leases={tree.data.leases} total={tree.data.total} />
      )}
    </section>
  );
}

function Tree({
  lease,
  leases,
  total,
}: {
  readonly lease: BudgetLease;
  readonly leases: readonly BudgetLease[];
  readonly total: number;
}) {
  const { id: projectId } = useProject();
  if (leases.length < 2) {
    return (
      <p className="flex items-center gap-2 text-[13px] text-ink-soft">
        <Split size={15} className="text-ink-faint" /> No active parts.
      </p>
    );
  }
  const isWhole = total <= leases.length;
  return (
    <>
      {!isWhole ? (
        <p className="text-[13px] text-ink-soft">
          Shows {count(leases.length)} of {count(total)} active leases, from the top down.
        </p>
      ) : (
        <Summary leases={leases} />
      )}
      <Table
        label="Lease tree"
        columns={columnsFor(projectId, lease.id, isWhole)}
        rows={treeRows(leases)}
        keyOf={({ lease: { id } }) => id}
      />
    </>
  );
}

/** The sum that the whole tree still reserves. */
function Summary({ leases }: { readonly leases: readonly BudgetLease[] }) {
  const left = [...remainingOf(leases)].map(([unit, sum]) => `${decimalExact(sum)} ${unit}`);
  return (
    <p className="text-[13px] text-ink-soft">
      Together, these leases still reserve{' '}
      <strong className="tabular font-semibold text-ink">{left.join(', ') || 'nothing'}</strong>.
    </p>
  );
}

/** @param isWhole whether no lease is missing: otherwise it is not known what the parts have */
function columnsFor(projectId: string, currentId: string, isWhole: boolean): readonly Column<TreeRow>[] {
  return [
    { title: 'Lease', cell: (row) => <TreeName row={row} projectId={projectId} currentId={currentId} /> },
    { title: 'Holds', cell: ({ lease }) => <PerHold lease={lease} textOf={unitOfHold} /> },
    numbers('Reserved', reservedBy),
    numbers('Used', ({ used }) => used),
    ...(isWhole ? [numbers('In parts', (hold, { inParts }) => inParts.get(unitOfHold(hold)) ?? '0')] : []),
    numbers('Remaining', ({ remaining }) => remaining),
    ...(isWhole ? [BARS] : []),
    {
      title: 'Ends',
      cell: ({ lease: { status, expires_at } }) =>
        status === 'active' ? <Moment at={expires_at} timezone="UTC" /> : <LeaseBadge status={status} />,
    },
  ];
}

const BARS: Column<TreeRow> = {
  title: 'Share used and in parts',
  isTitleHidden: true,
  cell: ({ lease, inParts }) =>
    lease.holds.map((hold) => (
      <HoldBar key={unitOfHold(hold)} hold={hold} inParts={inParts.get(unitOfHold(hold)) ?? '0'} />
    )),
};

/** A column of a value of each hold; the column of holds has their units. */
function numbers(title: string, figureOf: (hold: LeaseHold, row: TreeRow) => string): Column<TreeRow> {
  return {
    title,
    isNumber: true,
    cell: (row) => <PerHold lease={row.lease} textOf={(hold) => decimalExact(figureOf(hold, row))} />,
  };
}

/** A line for each hold of a lease. */
function PerHold({
  lease: { holds },
  textOf,
}: {
  readonly lease: BudgetLease;
  readonly textOf: (hold: LeaseHold) => string;
}) {
  return holds.map((hold) => (
    <span key={unitOfHold(hold)} className="tabular block truncate">
      {textOf(hold)}
    </span>
  ));
}

function TreeName({
  row: { lease, depth },
  projectId,
  currentId,
}: {
  readonly row: TreeRow;
  readonly projectId: string;
  readonly currentId: string;
}) {
  const subject = subjectOf(lease);
  const name = `bl_…${lease.id.slice(-ID_TAIL_CHARS)}`;
  return (
    <div className="flex items-center gap-1.5" style={{ paddingInlineStart: `${depth * 1.25}rem` }}>
      {depth > 0 && <CornerDownRight size={14} className="shrink-0 text-ink-faint" />}
      <div className="min-w-0">
        {lease.id === currentId ? (
          <strong aria-current="true" title={lease.id} className="font-mono text-xs font-semibold">
            {name}
          </strong>
        ) : (
          <Link
            href={`/p/${projectId}/limits/leases/${lease.id}`}
            title={lease.id}
            className="font-mono text-xs font-medium hover:underline"
          >
            {name}
          </Link>
        )}
        <Link
          href={subjectHref(projectId, subject)}
          className="block truncate text-xs text-ink-faint hover:underline"
        >
          {subjectName(subject)}
        </Link>
      </div>
    </div>
  );
}

/** Shares of a hold that are used, and that its parts have. The columns beside it have the numbers. */
function HoldBar({ hold, inParts }: { readonly hold: LeaseHold; readonly inParts: string }) {
  const used = Math.min(shareOf(hold.used, reservedBy(hold)), 1);
  const divided = Math.min(shareOf(inParts, reservedBy(hold)), 1 - used);
  return (
    <span aria-hidden="true" title="Dark: used. Light: in parts." className="flex h-5 items-center">
      <span className="flex h-1.5 w-24 overflow-hidden rounded-full bg-sunken">
        <span className="bg-accent transition-[width]" style={{ width: `${used * 100}%` }} />
        <span className="bg-accent opacity-40 transition-[width]" style={{ width: `${divided * 100}%` }} />
      </span>
    </span>
  );
}
