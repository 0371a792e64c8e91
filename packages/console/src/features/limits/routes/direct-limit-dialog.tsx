import { type DirectLimit, LIMIT_EFFECTIVE, type LimitEffective } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../../ui/dialog.js';
import { Field, Select } from '../../../ui/field.js';
import { fieldErrorsOf } from '../../../ui/field-errors.js';
import { FailureNote } from '../../../ui/states.js';
import { NEW_RULE, RULE_FIELDS, ruleDraft, ruleInput } from '../rules/rule-draft.js';
import { RuleFields } from '../rules/rule-fields.js';
import { ruleSentence } from '../rules/rule-sentence.js';
import { RuleSuggestions } from '../rules/suggestions.js';
import { useSaveDirectLimit } from './api.js';

const EFFECTIVE_LABELS: Readonly<Record<LimitEffective, string>> = {
  next_window: 'From the next window',
  now: 'Immediately, in the current window',
};
const EFFECTIVE_OPTIONS = LIMIT_EFFECTIVE.map((value) => ({ value, label: EFFECTIVE_LABELS[value] }));

interface DirectLimitDialogProps {
  readonly routeId: string;
  readonly edited: DirectLimit | 'new' | undefined;
  readonly onClose: () => void;
}

/** Form to add a direct limit to a route, or to edit one. */
export function DirectLimitDialog({ routeId, edited, onClose }: DirectLimitDialogProps) {
  return (
    <Dialog
      title={edited === 'new' ? 'Add limit' : 'Edit limit'}
      isOpen={edited !== undefined}
      onClose={onClose}
      isWide
    >
      {edited !== undefined && (
        <LimitForm routeId={routeId} {...(edited === 'new' ? {} : { limit: edited })} onClose={onClose} />
      )}
    </Dialog>
  );
}

function LimitForm({
  routeId,
  limit,
  onClose,
}: {
  readonly routeId: string;
  readonly limit?: DirectLimit;
  readonly onClose: () => void;
}) {
  const [rule, setRule] = useState(() => (limit === undefined ? NEW_RULE : ruleDraft(limit)));
  const [effective, setEffective] = useState<LimitEffective>('next_window');
  const save = useSaveDirectLimit(routeId, limit?.id);
  const errors = fieldErrorsOf(save.error, RULE_FIELDS);
  const isOtherAmount = limit !== undefined && rule.limit_amount !== limit.limit_amount;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ ...ruleInput(rule), ...(isOtherAmount ? { effective } : {}) }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <RuleSuggestions />
      <p className="text-[13px] text-ink-soft">{ruleSentence(rule)}</p>
      <RuleFields rule={rule} errorOf={errors.at} onEdit={(change) => setRule({ ...rule, ...change })} />
      {isOtherAmount && (
        <Field label="Apply the new limit" hint="Alerts already sent in this window are not sent again.">
          {(control) => (
            <Select {...control} options={EFFECTIVE_OPTIONS} value={effective} onChange={setEffective} />
          )}
        </Field>
      )}
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={save.isPending}>
          {limit === undefined ? 'Add limit' : 'Save'}
        </Button>
      </DialogActions>
    </form>
  );
}
