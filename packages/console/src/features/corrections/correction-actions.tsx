import type { Correction } from '@tollgate/contract';
import { type ReactNode, useState } from 'react';
import { filled } from '../../api/filled.js';
import { useMay } from '../../api/session.js';
import { count } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Checkbox } from '../../ui/checkbox.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { FailureNote } from '../../ui/states.js';
import { useCorrectionChanges } from './api.js';
import { PlanAgain } from './plan-again.js';
import { ReasonField } from './reason-field.js';

/** The statuses of corrections that are over, and not in force. */
const OVER: readonly Correction['status'][] = ['stale', 'failed', 'expired', 'reverted'];

type Verb = 'apply' | 'revert' | 'discard';

/** The actions that the status of a correction allows, each with a confirmation that says what happens. */
export function CorrectionActions({ correction }: { readonly correction: Correction }) {
  const [asked, setAsked] = useState<Verb>();
  const mayCorrect = useMay('usage:correct');
  const { status } = correction;
  if (!mayCorrect) return null;
  return (
    <>
      {status === 'planned' && (
        <>
          <Button look="danger" onClick={() => setAsked('discard')}>
            Delete…
          </Button>
          <Button
            look="primary"
            disabled={correction.events_changed === 0}
            title={correction.events_changed === 0 ? 'No event would change.' : undefined}
            onClick={() => setAsked('apply')}
          >
            Apply…
          </Button>
        </>
      )}
      {OVER.includes(status) && <PlanAgain correction={correction} />}
      {(status === 'applied' || status === 'stale') && correction.applied.events > 0 && (
        <Button look="danger" onClick={() => setAsked('revert')}>
          Revert…
        </Button>
      )}
      {asked !== undefined && (
        <ConfirmChange key={asked} correction={correction} verb={asked} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

const TITLES: Readonly<Record<Verb, string>> = {
  apply: 'Apply the correction',
  revert: 'Revert the correction',
  discard: 'Delete the plan',
};
const BUTTONS: Readonly<Record<Verb, string>> = { apply: 'Apply', revert: 'Revert', discard: 'Delete' };

function ConfirmChange({
  correction,
  verb,
  onClose,
}: {
  readonly correction: Correction;
  readonly verb: Verb;
  readonly onClose: () => void;
}) {
  const { apply, revert, discard } = useCorrectionChanges(correction.id);
  const change = { apply, revert, discard }[verb];
  const [counters, setCounters] = useState<'exact' | 'current'>('exact');
  const [reason, setReason] = useState('');
  const confirm = () => {
    const why = filled({ reason: reason.trim() });
    if (verb === 'apply') apply.mutate({ counters, ...why }, { onSuccess: onClose });
    else (verb === 'revert' ? revert : discard).mutate(why, { onSuccess: onClose });
  };
  return (
    <Dialog title={TITLES[verb]} isOpen onClose={onClose}>
      <div className="flex flex-col gap-2 text-[13px] text-ink-soft">{consequences(correction, verb)}</div>
      {verb === 'apply' && (
        <div className="mt-4">
          <Checkbox
            label="Compute amounts that depend on totals again"
            hint="For prices over a period: usage that arrived after the plan changes their totals. If you do not choose this, a changed total stops the correction as stale. If you do, the page then shows the amounts that were posted."
            isChecked={counters === 'current'}
            onChange={(isCurrent) => setCounters(isCurrent ? 'current' : 'exact')}
          />
        </div>
      )}
      <div className="mt-4">
        <ReasonField value={reason} isOptional hint="Optional. Kept in the audit log." onChange={setReason} />
      </div>
      {change.isError && (
        <div className="mt-4">
          <FailureNote error={change.error} />
        </div>
      )}
      <DialogActions>
        <CancelButton />
        <Button look={verb === 'apply' ? 'primary' : 'danger'} isBusy={change.isPending} onClick={confirm}>
          {BUTTONS[verb]}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function consequences({ events_changed, applied }: Correction, verb: Verb): ReactNode {
  const events = (number: number) => `${count(number)} ${number === 1 ? 'event' : 'events'}`;
  if (verb === 'apply') {
    return (
      <>
        <p>
          This changes {events(events_changed)}. The ledger gets entries with exactly the planned differences,
          and limits and charts follow. Returned money first pays what the account owes, then refills the
          credits that were used.
        </p>
        <p>If an event was changed since the plan, the correction stops there. You can revert it later.</p>
      </>
    );
  }
  if (verb === 'revert') {
    return (
      <p>
        This gives {events(applied.events)} the former {applied.events === 1 ? 'result' : 'results'} again,
        and posts entries with the opposite amounts. If a later correction has changed one of the events,
        revert that correction first.
      </p>
    );
  }
  return <p>The plan can no longer be applied. No event changes.</p>;
}
