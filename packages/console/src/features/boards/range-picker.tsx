import { Calendar } from 'lucide-react';
import { Popover } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { nowS } from '../../clock.js';
import { instantOfText, wallText } from '../../timezone.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { Field, TextInput } from '../../ui/field.js';
import {
  MONTHS,
  PRESETS,
  type RangeChoice,
  rangeAt,
  rangeLabel,
  rangeProblem,
  type TimeRange,
} from './time-range.js';

export interface RangePickerProps {
  readonly range: RangeChoice;
  readonly timezone: string;
  readonly onChange: (range: RangeChoice) => void;
}

const CHOICES: readonly { readonly choice: RangeChoice; readonly label: string }[] = [
  ...PRESETS.map(({ seconds, label }) => ({ choice: { last_seconds: seconds }, label })),
  ...MONTHS.map(({ month, label }) => ({ choice: { month }, label })),
];

/** Selects the time range: a relative range, a calendar month, or a custom range. */
export function RangePicker({ range, timezone, onChange }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false);
  const choose = (chosen: RangeChoice) => {
    onChange(chosen);
    setOpen(false);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button className="min-w-0 shrink">
          <Calendar size={14} className="shrink-0 text-ink-faint" />
          <span className="truncate">{rangeLabel(range, timezone)}</span>
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          className="z-50 w-64 rounded-lg border border-line bg-panel p-1.5 shadow-lg"
        >
          {CHOICES.map(({ choice, label }) => {
            const isChosen = JSON.stringify(choice) === JSON.stringify(range);
            return (
              <button
                key={label}
                type="button"
                aria-pressed={isChosen}
                onClick={() => choose(choice)}
                className={classes(
                  'block w-full rounded-md px-2.5 py-1.5 text-left text-[13px] hover:bg-sunken',
                  isChosen && 'font-semibold text-accent',
                )}
              >
                {label}
              </button>
            );
          })}
          <CustomRange range={range} timezone={timezone} onChoose={choose} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function CustomRange({
  range,
  timezone,
  onChoose,
}: Pick<RangePickerProps, 'range' | 'timezone'> & { readonly onChoose: (range: TimeRange) => void }) {
  const nowAtOpening = nowS();
  const meant = rangeAt(range, nowAtOpening, timezone);
  const shown = 'from' in meant ? meant : { from: nowAtOpening - meant.last_seconds, to: nowAtOpening };
  const [from, setFrom] = useState(wallText(shown.from, timezone));
  const [to, setTo] = useState(wallText(shown.to, timezone));
  const fromS = instantOfText(from, timezone);
  const toS = instantOfText(to, timezone);
  const problem = rangeProblem(fromS, toS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fromS !== undefined && toS !== undefined && problem === undefined) onChoose({ from: fromS, to: toS });
  };
  return (
    <form onSubmit={submit} className="mt-1.5 flex flex-col gap-2.5 border-t border-line p-2.5 pb-1.5">
      <Field label="From">
        {(control) => (
          <TextInput
            {...control}
            type="datetime-local"
            required
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        )}
      </Field>
      <Field label="To" error={problem} hint={`In the board’s timezone, ${timezone}.`}>
        {(control) => (
          <TextInput
            {...control}
            type="datetime-local"
            required
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="primary" disabled={problem !== undefined}>
        Apply
      </Button>
    </form>
  );
}
