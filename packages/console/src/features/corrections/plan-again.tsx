import type { Correction } from '@tollgate/contract';
import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { PlanDialog, PlanForm, type PlannedRequest } from './plan-correction.js';

/** A button that plans a correction of many events once more, when it is over without being in force. */
export function PlanAgain({ correction }: { readonly correction: Correction }) {
  const [isOpen, setOpen] = useState(false);
  const request = requestOf(correction);
  if (request === undefined) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Plan again…</Button>
      <PlanDialog title="Plan the correction again" isOpen={isOpen} onClose={() => setOpen(false)}>
        <PlanForm request={request} reason={correction.reason}>
          <p className="text-[13px] text-ink-soft">
            The same events are read as they are now. Rules that were not named are those that are published
            now.
          </p>
        </PlanForm>
      </PlanDialog>
    </>
  );
}

/** Returns the request of a correction; undefined for that of a single event. */
function requestOf({ action, filter, rules, backtest_id }: Correction): PlannedRequest | undefined {
  if (action === 'replace') return undefined;
  if (backtest_id !== null) return { action, backtest_id };
  if (filter === null) return undefined;
  return rules === null ? { action, filter } : { action, filter, rules };
}
