import { Radio } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../ui/button.js';
import { Select, TextInput } from '../../ui/field.js';
import { type EventFilters, NO_FILTERS } from './api.js';

const STATUSES = [
  { value: '', label: 'Every status' },
  { value: 'processed', label: 'Processed' },
  { value: 'failed', label: 'Failed' },
] as const;
const TEXTS = [
  ['metric', 'Metric'],
  ['source', 'Source'],
  ['subject_type', 'Subject type'],
  ['subject_id', 'Subject id'],
  ['external_event_id', 'External id'],
  ['ledger_transaction_id', 'Ledger transaction'],
] as const;
/** Who types is let finish the word. */
const TYPING_PAUSE_MS = 300;

export function EventFilterBar({
  filters,
  onChange,
  isLive,
  onLive,
}: {
  readonly filters: EventFilters;
  readonly onChange: (filters: EventFilters) => void;
  readonly isLive: boolean;
  readonly onLive: (isLive: boolean) => void;
}) {
  const [typed, setTyped] = useState(filters);
  useEffect(() => {
    if (typed === filters) return;
    const timer = setTimeout(() => onChange(typed), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, filters, onChange]);
  return (
    <search className="mb-4 flex flex-wrap items-center gap-2">
      <Select
        aria-label="Status"
        options={STATUSES}
        value={typed.status}
        onChange={(status) => setTyped({ ...typed, status })}
      />
      {TEXTS.map(([name, label]) => (
        <TextInput
          key={name}
          aria-label={label}
          placeholder={label}
          className="w-32"
          value={typed[name]}
          onChange={(event) => setTyped({ ...typed, [name]: event.target.value.trim() })}
        />
      ))}
      {Object.values(typed).some((value) => value !== '') && (
        <Button look="quiet" onClick={() => setTyped(NO_FILTERS)}>
          Clear
        </Button>
      )}
      <Button className="ml-auto" aria-pressed={isLive} onClick={() => onLive(!isLive)}>
        <Radio size={14} className={isLive ? 'animate-pulse text-good' : 'text-ink-faint'} />
        {isLive ? 'Following' : 'Follow'}
      </Button>
    </search>
  );
}
