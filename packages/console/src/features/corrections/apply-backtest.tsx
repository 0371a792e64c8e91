import type { Backtest, CorrectionRequest } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { useRequestKey } from '../../api/use-request-key.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { FailureNote } from '../../ui/states.js';
import { useCreateCorrection } from './api.js';
import { ReasonField } from './reason-field.js';

/** A button that plans a correction with the events and rules of a backtest; nothing if there is nothing to apply. */
export function ApplyBacktest({ backtest }: { readonly backtest: Backtest }) {
  const [isOpen, setOpen] = useState(false);
  const mayCorrect = useMay('usage:correct');
  const { status, result } = backtest;
  if (!mayCorrect || status !== 'succeeded' || result === null || result.changed_count === 0) return null;
  // A correction would change other events than the result shows.
  const isCut = result.cut_by.length > 0;
  return (
    <div>
      <Button
        disabled={isCut}
        title={isCut ? 'The backtest has left out events. Choose a shorter time range.' : undefined}
        onClick={() => setOpen(true)}
      >
        Apply this backtest…
      </Button>
      <Dialog
        title="Apply this backtest"
        description="First you see what would change. Nothing changes until you apply it."
        isOpen={isOpen}
        onClose={() => setOpen(false)}
      >
        <ApplyForm backtest={backtest} />
      </Dialog>
    </div>
  );
}

function ApplyForm({ backtest }: { readonly backtest: Backtest }) {
  const { id } = useProject();
  const [, navigate] = useLocation();
  const create = useCreateCorrection();
  const [reason, setReason] = useState('');
  const body: CorrectionRequest = { action: 'rerate', backtest_id: backtest.id, reason };
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
      <p className="text-[13px] text-ink-soft">
        The events of the backtest are rated again by its rules, and the differences are posted. The published
        rules stay as they are: publish these rules for future events. If events have changed since the
        backtest, run it again.
      </p>
      <ReasonField value={reason} onChange={setReason} />
      {create.isError && <FailureNote error={create.error} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={create.isPending} disabled={reason.trim() === ''}>
          Show what would change
        </Button>
      </DialogActions>
    </form>
  );
}
