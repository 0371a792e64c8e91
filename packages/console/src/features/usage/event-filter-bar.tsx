import { ListFilter } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { FilterInput } from '../../ui/filter-input.js';
import { useMetrics } from '../boards/metrics.js';
import { ConditionChips } from './condition-chips.js';
import { type Filters, NOTES, PRICING_SOURCES, TEXT_FILTERS, type TextFilter } from './filters.js';
import { TimeFilter } from './time-filter.js';

const STATUSES = [
  { value: '', label: 'All statuses' },
  { value: 'processed', label: 'Processed' },
  { value: 'failed', label: 'Failed' },
  { value: 'voided', label: 'Voided' },
];
const PRICINGS = [
  { value: '', label: 'Any price' },
  ...Object.entries(PRICING_SOURCES).map(([value, label]) => ({ value, label })),
];
const NOTE_OPTIONS = [
  { value: '', label: 'With or without notes' },
  ...Object.entries(NOTES).map(([value, label]) => ({ value, label })),
];
const FIRST: readonly TextFilter[] = ['subject_type', 'subject_id', 'metric', 'source'];
const FURTHER: readonly TextFilter[] = [
  'currency',
  'failure_code',
  'extractor_rule_set_id',
  'external_event_id',
  'ledger_transaction_id',
];

/** All filters of the list. `onChange` gets undefined for a filter to remove. */
export function EventFilterBar({
  filters,
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (change: Partial<Record<keyof Filters, string | number | undefined>>) => void;
}) {
  const [wantsMore, setWantsMore] = useState(false);
  const { data: metrics = [] } = useMetrics();
  const further = useFurther(filters, wantsMore);
  const inputs = (names: readonly TextFilter[]) =>
    names.map((name) => (
      <FilterInput
        key={name}
        label={TEXT_FILTERS[name]}
        value={filters[name] ?? ''}
        onChange={(text) => onChange({ [name]: text === '' ? undefined : text })}
        {...(name === 'metric' ? { suggestions: metrics.map(({ metric }) => metric), isWide: true } : {})}
      />
    ));
  const choice = (name: 'status' | 'pricing_source' | 'note', label: string, options: typeof PRICINGS) => (
    <Select
      aria-label={label}
      options={options}
      value={filters[name] ?? ''}
      onChange={(value) => onChange({ [name]: value === '' ? undefined : value })}
      className="w-[calc(50%-0.25rem)] sm:w-auto"
    />
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <search className="flex flex-wrap items-center gap-2">
      <TimeFilter times={filters} onChange={({ last, from, to }) => onChange({ last, from, to })} />
      {choice('status', 'Status', STATUSES)}
      {choice('pricing_source', 'Price', PRICINGS)}
      {inputs(FIRST)}
      {inputs(further)}
      {(wantsMore || filters.note !== undefined) && choice('note', 'Notes', NOTE_OPTIONS)}
      {further.length < FURTHER.length && (
        <Button look="quiet" onClick={() => setWantsMore(true)}>
          <ListFilter size={14} />
          More filters
        </Button>
      )}
      <ConditionChips text={filters.filters} onChange={(text) => onChange({ filters: text })} />
      {isFiltered && (
        <Button
          look="quiet"
          onClick={() => onChange(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

/** The further filters shown: all, or those that had a value, which stay in place while the user types a new one. */
function useFurther(filters: Filters, isAll: boolean): readonly TextFilter[] {
  const [used, setUsed] = useState<ReadonlySet<TextFilter>>(new Set());
  const added = FURTHER.filter((name) => filters[name] !== undefined && !used.has(name));
  if (added.length > 0) setUsed(new Set([...used, ...added]));
  return isAll ? FURTHER : FURTHER.filter((name) => used.has(name) || added.includes(name));
}
