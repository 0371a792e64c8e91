import type { Backtest } from '@tollgate/contract';
import { useState } from 'react';
import { useMay } from '../../api/session.js';
import { Button } from '../../ui/button.js';
import { PlanDialog, PlanForm } from './plan-correction.js';

/** A button that plans a correction with the events and rules of a backtest; nothing if there is nothing to apply. */
export function ApplyBacktest({ backtest }: { readonly backtest: Backtest }) {
  const [isOpen, setOpen] = useState(false);
  const mayCorrect = useMay('usage:correct');
  const { id, status, result } = backtest;
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
      <PlanDialog title="Apply this backtest" isOpen={isOpen} onClose={() => setOpen(false)}>
        <PlanForm request={{ action: 'rerate', backtest_id: id }}>
          <p className="text-[13px] text-ink-soft">
            The events of the backtest are rated again by its rules, and the differences are posted. The
            published rules stay as they are: publish these rules for future events. If events have changed
            since the backtest, run it again.
          </p>
        </PlanForm>
      </PlanDialog>
    </div>
  );
}
