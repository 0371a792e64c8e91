import type { DimensionFilter } from '@tollgate/contract';
import { Plus, X } from 'lucide-react';
import { Button, IconButton } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { FilterValues } from './filter-values.js';
import { nameLabel, type UsedMetric, valuesOf } from './metrics.js';

type Filters = Readonly<Record<string, DimensionFilter>>;

const CONDITIONS = [
  { value: 'in', label: 'is one of' },
  { value: 'not_in', label: 'is none of' },
  { value: 'exists', label: 'is set' },
  { value: 'absent', label: 'is not set' },
] as const;
type Condition = (typeof CONDITIONS)[number]['value'];

/** Filters of a chart, one per dimension. */
export function FilterFields({
  metrics,
  names,
  filters,
  onChange,
}: {
  readonly metrics: readonly UsedMetric[];
  readonly names: readonly string[];
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}) {
  const free = names.find((name) => !Object.hasOwn(filters, name));
  const without = (name: string) =>
    Object.fromEntries(Object.entries(filters).filter(([each]) => each !== name));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 text-[13px] font-medium">Filters</legend>
      {Object.entries(filters).map(([name, filter]) => (
        <FilterRow
          key={name}
          name={name}
          names={names.filter((each) => each === name || !Object.hasOwn(filters, each))}
          filter={filter}
          suggestions={valuesOf(metrics, name)}
          onRename={(renamed) => onChange({ ...without(name), [renamed]: { in: [] } })}
          onChange={(changed) => onChange({ ...filters, [name]: changed })}
          onRemove={() => onChange(without(name))}
        />
      ))}
      {free !== undefined && (
        <Button
          look="quiet"
          size="small"
          className="self-start"
          onClick={() => onChange({ ...filters, [free]: { in: [] } })}
        >
          <Plus size={14} />
          Add filter
        </Button>
      )}
    </fieldset>
  );
}

interface FilterRowProps {
  readonly name: string;
  readonly names: readonly string[];
  readonly filter: DimensionFilter;
  readonly suggestions: readonly string[];
  readonly onRename: (name: string) => void;
  readonly onChange: (filter: DimensionFilter) => void;
  readonly onRemove: () => void;
}

function FilterRow({ name, names, filter, suggestions, onRename, onChange, onRemove }: FilterRowProps) {
  const condition = conditionOf(filter);
  const values = filter.in ?? filter.not_in ?? [];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto_auto] gap-1.5">
      <Select
        aria-label="Dimension"
        className="w-full"
        value={name}
        options={names.map((each) => ({ value: each, label: nameLabel(each) }))}
        onChange={onRename}
      />
      <Select
        aria-label="Condition"
        value={condition}
        options={CONDITIONS}
        onChange={(how) => onChange(filterOf(how, values))}
      />
      <IconButton label={`Remove filter on ${nameLabel(name)}`} onClick={onRemove}>
        <X size={14} />
      </IconButton>
      {filter.exists === undefined && (
        <FilterValues
          name={nameLabel(name)}
          values={values}
          suggestions={suggestions}
          onChange={(changed) => onChange(filterOf(condition, changed))}
        />
      )}
    </div>
  );
}

function conditionOf({ not_in, exists }: DimensionFilter): Condition {
  if (exists !== undefined) return exists ? 'exists' : 'absent';
  return not_in === undefined ? 'in' : 'not_in';
}

function filterOf(condition: Condition, values: readonly string[]): DimensionFilter {
  if (condition === 'in' || condition === 'not_in') return { [condition]: [...values] };
  return { exists: condition === 'exists' };
}
