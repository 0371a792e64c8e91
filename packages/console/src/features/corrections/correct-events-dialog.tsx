import type { CorrectionFilter } from '@tollgate/contract';
import { useState } from 'react';
import { useMay } from '../../api/session.js';
import { Button } from '../../ui/button.js';
import { DialogActions } from '../../ui/dialog.js';
import { Fact, Facts } from '../../ui/facts.js';
import { Field, Select } from '../../ui/field.js';
import type { EventQuery } from '../usage/filters.js';
import { correctionFilterOf, describeFilter } from './correction-filter.js';
import { PlanDialog, PlanForm } from './plan-correction.js';
import { isCompleteChoice, PUBLISHED_RULES, rulesOf } from './rules-choice.js';
import { RulesFields } from './rules-fields.js';

interface CorrectEventsProps {
  /** The filters of the list. */
  readonly eventQuery: EventQuery;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Plans a correction of all events that match the filters, and opens the plan. Only applying it changes events. */
export function CorrectEventsDialog({ eventQuery, isOpen, onClose }: CorrectEventsProps) {
  const reading = correctionFilterOf(eventQuery);
  return (
    <PlanDialog title="Correct matching events" isOpen={isOpen} onClose={onClose}>
      {reading.isUsable ? (
        <CorrectionForm filter={reading.filter} />
      ) : (
        <UnusableFilters labels={reading.labels} onClose={onClose} />
      )}
    </PlanDialog>
  );
}

function UnusableFilters({
  labels,
  onClose,
}: {
  readonly labels: readonly string[];
  readonly onClose: () => void;
}) {
  return (
    <>
      <p className="text-[13px] text-ink-soft">
        A correction cannot use {labels.length === 1 ? 'this filter' : 'these filters'}:{' '}
        <strong className="font-semibold text-ink">{labels.join(', ')}</strong>. Remove{' '}
        {labels.length === 1 ? 'it' : 'them'}, or select events in the list to void them.
      </p>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Back to the list
        </Button>
      </DialogActions>
    </>
  );
}

const ACTIONS = [
  { value: 'rerate', label: 'Rate them again' },
  { value: 'void', label: 'Void them' },
] as const;
type Action = (typeof ACTIONS)[number]['value'];

/** The effect of an action on events of a status. */
function effectOf(action: Action, status: CorrectionFilter['status'] = 'processed'): string {
  if (action === 'void') return 'Their amounts return to the accounts that were debited.';
  if (status === 'voided') return 'This revives the voided events.';
  return 'The difference is posted. An event that would fail keeps its result.';
}

function CorrectionForm({ filter }: { readonly filter: CorrectionFilter }) {
  const mayReadRules = useMay('rules:read');
  const isVoided = filter.status === 'voided';
  const [action, setAction] = useState<Action>('rerate');
  const [choice, setChoice] = useState(PUBLISHED_RULES);
  const rules = action === 'rerate' ? rulesOf(choice) : undefined;
  return (
    <PlanForm
      request={{ action, filter, ...(rules === undefined ? {} : { rules }) }}
      isComplete={action === 'void' || isCompleteChoice(choice)}
    >
      <section aria-label="Events" className="rounded-lg bg-sunken px-3.5 py-2.5">
        <Facts>
          {describeFilter(filter).map(([name, value]) => (
            <Fact key={name} name={name}>
              <bdi>{value}</bdi>
            </Fact>
          ))}
        </Facts>
      </section>
      <Field label="Action" hint={effectOf(action, filter.status)}>
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={isVoided ? ACTIONS.filter(({ value }) => value === 'rerate') : ACTIONS}
            value={action}
            onChange={setAction}
          />
        )}
      </Field>
      {action === 'rerate' && mayReadRules && <RulesFields choice={choice} onChange={setChoice} />}
    </PlanForm>
  );
}
