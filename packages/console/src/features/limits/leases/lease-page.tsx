import type { BudgetLease } from '@tollgate/contract';
import { useState } from 'react';
import { useMay } from '../../../api/session.js';
import { dateTime } from '../../../format.js';
import { useProject } from '../../../project.js';
import { FailedPage } from '../../../shell/failed-page.js';
import { PageHeader } from '../../../shell/page-header.js';
import { Button } from '../../../ui/button.js';
import { ConfirmDialog } from '../../../ui/confirm-dialog.js';
import { FactGrid, type NamedFact } from '../../../ui/fact-grid.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { Moment } from '../../../ui/moment.js';
import { Skeleton } from '../../../ui/states.js';
import { subjectHref, subjectName, subjectOf } from '../subjects/subject.js';
import { useCloseLease, useLease } from './api.js';
import { LeaseBadge } from './lease-badge.js';
import { LeaseDialog } from './lease-dialog.js';
import { dimensionsText, type HoldValue, HoldValues, holdText } from './lease-holds.js';
import { LeaseTree } from './lease-tree.js';
import { OpenLeaseButton } from './open-lease-button.js';

/** One lease, with its reserved, used and remaining amounts. */
export function LeasePage({ leaseId }: { readonly leaseId: string }) {
  const { id: projectId } = useProject();
  const lease = useLease(leaseId);
  const [isClosing, setClosing] = useState(false);
  const mayClose = useMay('usage:ingest');
  if (lease.isError)
    return <FailedPage above={{ label: 'Leases', href: `/p/${projectId}/limits/leases` }} of={lease} />;
  if (lease.data === undefined) return <Skeleton className="m-6 h-64" />;
  return (
    <>
      <PageHeader
        above={{
          label: subjectName(subjectOf(lease.data)),
          href: subjectHref(projectId, subjectOf(lease.data)),
        }}
        title="Budget lease"
        actions={
          lease.data.status === 'active' && (
            <Button
              disabled={!mayClose}
              title={mayClose ? undefined : 'This key lacks the permission usage:ingest.'}
              onClick={() => setClosing(true)}
            >
              Close lease
            </Button>
          )
        }
      />
      <LeaseFacts lease={lease.data} />
      <LeaseTree
        lease={lease.data}
        action={lease.data.status === 'active' && <OpenPart lease={lease.data} />}
      />
      <CloseLease lease={lease.data} isOpen={isClosing} onClose={() => setClosing(false)} />
    </>
  );
}

/** A button that takes a part of the lease, at first for the same subject. */
function OpenPart({ lease }: { readonly lease: BudgetLease }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <OpenLeaseButton onClick={() => setOpen(true)}>Open part</OpenLeaseButton>
      <LeaseDialog
        subject={subjectOf(lease)}
        parentId={lease.id}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
      />
    </>
  );
}

function CloseLease({
  lease,
  isOpen,
  onClose,
}: {
  readonly lease: BudgetLease;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const close = useCloseLease(lease.id);
  const allOf = (of: HoldValue) => lease.holds.map((hold) => holdText(hold, of)).join(', ') || 'nothing';
  return (
    <ConfirmDialog
      title="Close this lease?"
      action="Close lease"
      change={close}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => close.mutate(undefined, { onSuccess: onClose })}
    >
      What remains is released immediately: {allOf('remaining')}. What is used stays counted: {allOf('used')}.
      Later events with this lease ID are rated like any other event.
    </ConfirmDialog>
  );
}

function LeaseFacts({ lease }: { readonly lease: BudgetLease }) {
  const { id: projectId } = useProject();
  const { account_id, closed_at, expires_at, created_at } = lease;
  const when = (at: number) => (
    <>
      {dateTime(at, 'UTC')} UTC, <Moment at={at} timezone="UTC" />
    </>
  );
  const facts: readonly NamedFact[] = [
    ['Status', <LeaseBadge key="status" status={lease.status} />],
    ['Reserved', <HoldValues key="reserved" lease={lease} of="reserved" />],
    ['Used', <HoldValues key="used" lease={lease} of="used" />],
    ['Remaining', <HoldValues key="remaining" lease={lease} of="remaining" />],
    ['Metric', lease.metric ?? 'All usage'],
    ['Dimensions', dimensionsText(lease)],
    [
      'Account',
      account_id === null ? (
        'None: the subject had no route'
      ) : (
        <IdLink key="account" href={`/p/${projectId}/billing/${account_id}`} id={account_id} />
      ),
    ],
    ...partOf(lease, projectId),
    ['Opened', when(created_at)],
    closed_at === null ? ['Expires', when(expires_at)] : ['Ended', when(closed_at)],
    [
      'Lease ID',
      <code key="id" className="font-mono text-xs break-all">
        {lease.id}
      </code>,
    ],
  ];
  return (
    <div className="px-4 pb-8 sm:px-6">
      <FactGrid facts={facts} />
    </div>
  );
}

/** The lease that this one is a part of, if it is. */
function partOf({ parent_lease_id: parentId }: BudgetLease, projectId: string): readonly NamedFact[] {
  if (parentId === null) return [];
  const href = `/p/${projectId}/limits/leases/${parentId}`;
  return [['Part of lease', <IdLink key="parent" href={href} id={parentId} />]];
}

function IdLink({ href, id }: { readonly href: string; readonly id: string }) {
  return (
    <span className="font-mono text-xs break-all">
      <InlineLink href={href}>{id}</InlineLink>
    </span>
  );
}
