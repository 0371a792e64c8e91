import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../../../ui/button.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import type { FieldErrors } from '../../../ui/field-errors.js';
import { METRICS_LIST } from '../rules/suggestions.js';
import { type HoldDraft, mayAddHold, nextHold } from './lease-draft.js';

const KINDS = [
  { value: 'amount', label: 'Amount' },
  { value: 'quantity', label: 'Quantity' },
] as const;

interface HoldFieldsProps {
  readonly holds: readonly HoldDraft[];
  readonly errors: FieldErrors;
  readonly onChange: (holds: readonly HoldDraft[]) => void;
}

/** The amounts and quantities that a lease reserves together. */
export function HoldFields({ holds, errors, onChange }: HoldFieldsProps) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1.5 text-[13px] font-medium">
        Holds <span className="font-normal text-ink-faint">all are reserved together, or none</span>
      </legend>
      {holds.length === 0 && (
        <p className="rounded-lg border border-dashed border-line-strong px-3 py-2.5 text-[13px] text-ink-soft">
          Reserves nothing. The lease only counts for limits on active leases.
        </p>
      )}
      {holds.map((hold, index) => (
        <HoldRow
          key={hold.id}
          hold={hold}
          index={index}
          errors={errors}
          onEdit={(change) => onChange(holds.with(index, { ...hold, ...change }))}
          onRemove={() => onChange(holds.toSpliced(index, 1))}
        />
      ))}
      {mayAddHold(holds) && (
        <Button
          look="quiet"
          size="small"
          className="self-start"
          onClick={() => onChange([...holds, nextHold(holds)])}
        >
          <Plus size={14} />
          Add hold
        </Button>
      )}
    </fieldset>
  );
}

interface HoldRowProps {
  readonly hold: HoldDraft;
  readonly index: number;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<HoldDraft>) => void;
  readonly onRemove: () => void;
}

function HoldRow({ hold, index, errors, onEdit, onRemove }: HoldRowProps) {
  const isAmount = hold.kind === 'amount';
  const name = `Hold ${index + 1}`;
  const at = (field: string) => errors.at(`holds[${index}].${field}`);
  return (
    <fieldset
      aria-label={name}
      className="grid grid-cols-2 items-start gap-2 sm:grid-cols-[7.25rem_1fr_1fr_2rem]"
    >
      <Field label="Kind" className="max-sm:order-first">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={KINDS}
            value={hold.kind}
            onChange={(kind) => onEdit({ kind, unit: kind === 'amount' ? 'USD' : '' })}
          />
        )}
      </Field>
      <Field label={isAmount ? 'Amount' : 'Quantity'} error={at(hold.kind)}>
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            inputMode="decimal"
            value={hold.value}
            onChange={(event) => onEdit({ value: event.target.value })}
          />
        )}
      </Field>
      <Field label={isAmount ? 'Currency' : 'Metric'} error={at(isAmount ? 'currency' : 'metric')}>
        {(control) => (
          <TextInput
            {...control}
            required
            list={isAmount ? undefined : METRICS_LIST}
            value={hold.unit}
            onChange={(event) => onEdit({ unit: event.target.value })}
          />
        )}
      </Field>
      <IconButton
        label={`Remove ${name.toLowerCase()}`}
        className="max-sm:justify-self-end sm:mt-[1.625rem]"
        onClick={onRemove}
      >
        <Trash2 size={14} />
      </IconButton>
    </fieldset>
  );
}
