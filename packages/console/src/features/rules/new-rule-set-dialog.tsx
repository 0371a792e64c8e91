import { type ExtractorRuleSet, PRICING_PURPOSE_DEFAULT, type PricingPurpose } from '@tollgate/contract';
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

const PURPOSES: readonly { readonly value: PricingPurpose; readonly label: string }[] = [
  { value: 'price', label: 'Prices: what customers are charged' },
  { value: 'cost', label: 'Costs: what the usage costs you' },
];

/** Form to create an empty rule set, which it then opens. */
export function NewRuleSetDialog({ kind, extractorId, extractors, onClose }: NewRuleSetDialogProps) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const create = useCreateRuleSet(kind);
  const bindable = extractors.filter(({ status }) => status !== 'archived');
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(extractorId ?? bindable[0]?.id ?? '');
  const [purpose, setPurpose] = useState<PricingPurpose>(PRICING_PURPOSE_DEFAULT);
  const isPricing = kind === 'pricing';
  const errors = fieldErrorsOf(create.error, ['name', 'extractor_rule_set_id', 'purpose']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { name: name.trim(), ...(isPricing ? { extractor_rule_set_id: chosen, purpose } : {}) };
    create.mutate(body, { onSuccess: ({ id }) => navigate(`/p/${projectId}/rules/${kind}/${id}`) });
  };
  return (
    <Dialog title={isPricing ? 'New pricing rule set' : 'New rule set'} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <NameField
          error={errors.at('name')}
          hint={
            isPricing
              ? 'For example list prices, a contract, or a provider.'
              : 'For example the system that sends the events.'
          }
          value={name}
          onChange={setName}
          autoFocus
        />
        {isPricing && (
          <PricingFields
            {...{ purpose, setPurpose, chosen, setChosen, errors }}
            options={bindable.map((each) => ({ value: each.id, label: titleOf(each) }))}
          />
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

/** The fields of a pricing rule set that are fixed when it is created. */
function PricingFields({
  purpose,
  setPurpose,
  chosen,
  setChosen,
  options,
  errors,
}: {
  readonly purpose: PricingPurpose;
  readonly setPurpose: (purpose: PricingPurpose) => void;
  readonly chosen: string;
  readonly setChosen: (extractorId: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly errors: ReturnType<typeof fieldErrorsOf>;
}) {
  const hint = 'Cannot be changed later.';
  return (
    <>
      <Field label="Purpose" error={errors.at('purpose')} hint={hint}>
        {(control) => (
          <Select {...control} className="w-full" value={purpose} onChange={setPurpose} options={PURPOSES} />
        )}
      </Field>
      <Field label="Extractor rule set" error={errors.at('extractor_rule_set_id')} hint={hint}>
        {(control) => (
          <Select {...control} className="w-full" value={chosen} onChange={setChosen} options={options} />
        )}
      </Field>
    </>
  );
}
