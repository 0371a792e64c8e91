import type { ExtractorRuleSet } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { NameField } from '../../ui/name-field.js';
import { FailureNote } from '../../ui/states.js';
import { type RuleSetKind, useCreateRuleSet } from './api.js';
import { titleOf } from './rule-set-list.js';

interface NewRuleSetDialogProps {
  readonly kind: RuleSetKind;
  /** What a pricing rule set is bound to, as it was chosen already. */
  readonly extractorId?: string;
  readonly extractors: readonly ExtractorRuleSet[];
  readonly onClose: () => void;
}

/** Makes an empty rule set, and leads to where it is filled in. */
export function NewRuleSetDialog({ kind, extractorId, extractors, onClose }: NewRuleSetDialogProps) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const create = useCreateRuleSet(kind);
  const bindable = extractors.filter(({ status }) => status !== 'archived');
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(extractorId ?? bindable[0]?.id ?? '');
  const isPricing = kind === 'pricing';
  const errors = fieldErrorsOf(create.error, ['name', 'extractor_rule_set_id']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { name: name.trim(), ...(isPricing ? { extractor_rule_set_id: chosen } : {}) };
    create.mutate(body, { onSuccess: ({ id }) => navigate(`/p/${projectId}/rules/${kind}/${id}`) });
  };
  return (
    <Dialog title={isPricing ? 'New pricing rule set' : 'New rule set'} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <NameField
          error={errors.at('name')}
          hint={isPricing ? 'Say, list prices or a contract.' : 'Say, what sends the events.'}
          value={name}
          onChange={setName}
          autoFocus
        />
        {isPricing && (
          <Field
            label="Prices the charge items of"
            error={errors.at('extractor_rule_set_id')}
            hint="It stays bound to this rule set for good."
          >
            {(control) => (
              <Select
                {...control}
                className="w-full"
                value={chosen}
                onChange={setChosen}
                options={bindable.map((each) => ({ value: each.id, label: titleOf(each) }))}
              />
            )}
          </Field>
        )}
        {errors.rest !== undefined && <FailureNote error={errors.rest} />}
        <DialogActions>
          <CancelButton />
          <Button
            type="submit"
            look="primary"
            isBusy={create.isPending}
            disabled={isPricing && chosen === ''}
          >
            Create draft
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
