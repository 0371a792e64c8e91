import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../../../ui/button.js';
import { Field, TextInput } from '../../../ui/field.js';
import type { FieldErrors } from '../../../ui/field-errors.js';
import { DIMENSIONS_LIST, METRICS_LIST, valuesList } from '../rules/suggestions.js';
import { type DimensionDraft, type LeaseDraft, newDimension, repeatedDimension } from './lease-draft.js';

interface WorkFieldsProps {
  readonly draft: LeaseDraft;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<LeaseDraft>) => void;
}

/** The work of a lease: its metric and dimensions decide which limits the lease is reserved in. */
export function WorkFields({ draft, errors, onEdit }: WorkFieldsProps) {
  const { metric, dimensions } = draft;
  const repeated = repeatedDimension(dimensions);
  return (
    <>
      <Field
        label="Metric of the work"
        hint="Optional. Amounts are then also reserved in limits on this metric."
        error={errors.at('metric')}
      >
        {(control) => (
          <TextInput
            {...control}
            list={METRICS_LIST}
            value={metric}
            onChange={(event) => onEdit({ metric: event.target.value })}
          />
        )}
      </Field>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-[13px] font-medium">Dimensions of the work</legend>
        <p className="text-xs text-ink-faint">
          Optional. The lease is then also reserved in limits on these values, and only events with all of
          them use it.
        </p>
        {dimensions.map((dimension, index) => (
          <DimensionRow
            key={dimension.id}
            dimension={dimension}
            number={index + 1}
            error={
              repeated === index
                ? 'Another row has this dimension.'
                : errors.at(`dimensions.${dimension.name.trim()}`)
            }
            onEdit={(change) => onEdit({ dimensions: dimensions.with(index, { ...dimension, ...change }) })}
            onRemove={() => onEdit({ dimensions: dimensions.toSpliced(index, 1) })}
          />
        ))}
        <Button
          look="quiet"
          size="small"
          className="self-start"
          onClick={() => onEdit({ dimensions: [...dimensions, newDimension()] })}
        >
          <Plus size={14} />
          Add dimension
        </Button>
      </fieldset>
    </>
  );
}

function DimensionRow({
  dimension,
  number,
  error,
  onEdit,
  onRemove,
}: {
  readonly dimension: DimensionDraft;
  readonly number: number;
  readonly error: string | undefined;
  readonly onEdit: (change: Partial<DimensionDraft>) => void;
  readonly onRemove: () => void;
}) {
  return (
    <fieldset
      aria-label={`Dimension ${number}`}
      className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_2rem] items-start gap-2"
    >
      <Field label="Name" error={error}>
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            list={DIMENSIONS_LIST}
            value={dimension.name}
            onChange={(event) => onEdit({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Value">
        {(control) => (
          <TextInput
            {...control}
            required
            list={valuesList(dimension.name.trim())}
            value={dimension.value}
            onChange={(event) => onEdit({ value: event.target.value })}
          />
        )}
      </Field>
      <IconButton label={`Remove dimension ${number}`} className="mt-[1.625rem]" onClick={onRemove}>
        <Trash2 size={14} />
      </IconButton>
    </fieldset>
  );
}
