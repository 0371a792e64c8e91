import { DAY_S } from '@tollgate/timezone';
import { useState } from 'react';
import { nowS } from '../../clock.js';
import { instantOfText, wallText } from '../../timezone.js';
import { Select, TextInput } from '../../ui/field.js';
import type { Filters } from './filters.js';

const CUSTOM = 'custom';
const RANGES = [
  { value: '', label: 'Any time' },
  { value: '900', label: 'Last 15 minutes' },
  { value: '3600', label: 'Last hour' },
  { value: '86400', label: 'Last 24 hours' },
  { value: '604800', label: 'Last 7 days' },
  { value: '2592000', label: 'Last 30 days' },
  { value: CUSTOM, label: 'Custom range' },
] as const;
type Times = Pick<Filters, 'last' | 'from' | 'to'>;

/** Filter by time, in UTC as in the list. */
export function TimeFilter({
  times: { last, from, to },
  onChange,
}: {
  readonly times: Times;
  readonly onChange: (times: Times) => void;
}) {
  const hasRange = from !== undefined || to !== undefined;
  const value = hasRange ? CUSTOM : (RANGES.find((range) => range.value === String(last))?.value ?? '');
  const choose = (chosen: string) => {
    if (chosen === CUSTOM) onChange({ from: nowS() - (last ?? DAY_S), to: nowS() });
    else onChange(chosen === '' ? {} : { last: Number(chosen) });
  };
  return (
    <>
      <Select
        aria-label="Time"
        options={RANGES}
        value={value}
        onChange={choose}
        className="w-[calc(50%-0.25rem)] sm:w-auto"
      />
      {hasRange && (
        <>
          <MomentInput
            label="From (UTC)"
            value={from}
            onChange={(changed) => onChange({ ...pair(changed, to) })}
          />
          <MomentInput
            label="To (UTC)"
            value={to}
            onChange={(changed) => onChange({ ...pair(from, changed) })}
          />
        </>
      )}
    </>
  );
}

function pair(from: number | undefined, to: number | undefined): Times {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** An input for a time in UTC. Incomplete input is kept here until it is a valid time. */
function MomentInput({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (unixS: number | undefined) => void;
}) {
  const [typed, setTyped] = useState<string>();
  const change = (text: string) => {
    const unixS = instantOfText(text, 'UTC');
    setTyped(unixS === undefined ? text : undefined);
    if (unixS !== undefined) onChange(Math.max(unixS, 0));
  };
  return (
    <TextInput
      type="datetime-local"
      aria-label={label}
      title={label}
      className="w-[calc(50%-0.25rem)] sm:w-auto"
      value={typed ?? (value === undefined ? '' : wallText(value, 'UTC'))}
      onChange={(event) => change(event.target.value)}
    />
  );
}
