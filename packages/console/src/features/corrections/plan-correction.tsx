import type { CorrectionRequest } from '@tollgate/contract';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { useRequestKey } from '../../api/use-request-key.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { FailureNote } from '../../ui/states.js';
import { useCreateCorrection } from './api.js';
import { ReasonField } from './reason-field.js';

/** A correction of many events without its reason. */
export type PlannedRequest = Omit<CorrectionRequest, 'reason' | 'dry_run'>;

/** A dialog that plans a correction of many events. */
export function PlanDialog({
  title,
  isOpen,
  onClose,
  children,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <Dialog
      title={title}
      description="First you see what would change. Nothing changes until you apply it."
      isOpen={isOpen}
      onClose={onClose}
    >
      {children}
    </Dialog>
  );
}

/** Asks for the reason, plans a correction, and opens the plan. The children say what is corrected. */
export function PlanForm({
  request,
  reason: firstReason = '',
  isComplete = true,
  children,
}: {
  readonly request: PlannedRequest;
  /** The reason until the user changes it. */
  readonly reason?: string;
  readonly isComplete?: boolean;
  readonly children: ReactNode;
}) {
  const { id } = useProject();
  const [, navigate] = useLocation();
  const create = useCreateCorrection();
  const [reason, setReason] = useState(firstReason);
  const body: CorrectionRequest = { ...request, reason };
  const key = useRequestKey(body);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(
      { body, key },
      { onSuccess: (correction) => navigate(`/p/${id}/usage/corrections/${correction.id}`) },
    );
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {children}
      <ReasonField value={reason} onChange={setReason} />
      {create.isError && <FailureNote error={create.error} />}
      <DialogActions>
        <CancelButton />
        <Button
          type="submit"
          look="primary"
          isBusy={create.isPending}
          disabled={!isComplete || reason.trim() === ''}
        >
          Show what would change
        </Button>
      </DialogActions>
    </form>
  );
}
