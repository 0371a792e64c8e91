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
  /** The preselected extractor rule set for a pricing rule set. */
  readonly extractorId?: string;
  readonly extractors: readonly ExtractorRuleSet[];
  readonly onClose: () => void;
}

/** Form to create an empty rule set, which it then opens. */
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
          hint={
            isPricing
              ? 'For example list prices or a contract.'
              : 'For example the system that sends the events.'
          }
          value={name}
          onChange={setName}
          autoFocus
        />
        {isPricing && (
          <Field
            label="Extractor rule set to price"
            error={errors.at('extractor_rule_set_id')}
            hint="Cannot be changed later."
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
