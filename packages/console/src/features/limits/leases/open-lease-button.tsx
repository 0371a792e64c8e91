import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMay } from '../../../api/session.js';
import { useProject } from '../../../project.js';
import { Button, type ButtonProps } from '../../../ui/button.js';
import { LeaseDialog } from './lease-dialog.js';

/** A button that opens the form of a lease. Keys that may not report usage cannot reserve anything for it. */
export function OpenLeaseButton({ children, ...button }: ButtonProps) {
  const mayOpen = useMay('usage:ingest');
  return (
    <Button
      {...button}
      disabled={!mayOpen}
      title={mayOpen ? undefined : 'This key lacks the permission usage:ingest.'}
    >
      <Plus size={14} />
      {children}
    </Button>
  );
}

const NO_SUBJECT = { type: '', id: '' };

/** Opens a lease of any subject, and shows it. */
export function NewLeaseButton() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <OpenLeaseButton look="primary" onClick={() => setOpen(true)}>
        Open lease
      </OpenLeaseButton>
      <LeaseDialog
        subject={NO_SUBJECT}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onOpened={(lease) => navigate(`/p/${id}/limits/leases/${lease.id}`)}
      />
    </>
  );
}
