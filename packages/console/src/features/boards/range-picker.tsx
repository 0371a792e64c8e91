import { Calendar } from 'lucide-react';
import { Popover } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { Field, TextInput } from '../../ui/field.js';
import { PRESETS, rangeLabel, type TimeRange } from './time-range.js';

/** Chooses what part of time is shown: a preset that follows the clock, or two days of one's own. */
export function RangePicker({
  range,
  onChange,
}: {
  readonly range: TimeRange;
  readonly onChange: (range: TimeRange) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const choose = (chosen: TimeRange) => {
    onChange(chosen);
    setOpen(false);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button>
          <Calendar size={14} className="text-ink-faint" />
          {rangeLabel(range)}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          className="z-50 w-64 rounded-lg border border-line bg-panel p-1.5 shadow-lg"
        >
          {PRESETS.map(({ seconds, label }) => {
            const isChosen = 'last_seconds' in range && range.last_seconds === seconds;
            return (
              <button
                key={seconds}
                type="button"
                aria-pressed={isChosen}
                onClick={() => choose({ last_seconds: seconds })}
                className={classes(
                  'block w-full rounded-md px-2.5 py-1.5 text-left text-[13px] hover:bg-sunken',
                  isChosen && 'font-semibold text-accent',
                )}
              >
                {label}
              </button>
            );
          })}
          <CustomRange range={range} onChoose={choose} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function CustomRange({
  range,
  onChoose,
}: {
  readonly range: TimeRange;
  readonly onChoose: (range: TimeRange) => void;
}) {
  const [from, setFrom] = useState('from' in range ? localText(range.from) : '');
  const [to, setTo] = useState('from' in range ? localText(range.to) : '');
  const fromS = unixSeconds(from);
  const toS = unixSeconds(to);
  const isReversed = fromS !== undefined && toS !== undefined && fromS >= toS;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fromS !== undefined && toS !== undefined && !isReversed) onChoose({ from: fromS, to: toS });
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
      <Field
        label="To"
        error={isReversed ? 'The end lies before the start.' : undefined}
        hint="In the time of this computer."
      >
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
      <Button type="submit" look="primary" disabled={isReversed}>
        Show
      </Button>
    </form>
  );
}

function unixSeconds(text: string): number | undefined {
  const ms = new Date(text).getTime();
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
}

const MS_PER_MINUTE = 60_000;

/** As the browser's own control writes a local moment. */
function localText(unixS: number): string {
  const date = new Date(unixS * 1_000);
  return new Date(date.getTime() - date.getTimezoneOffset() * MS_PER_MINUTE).toISOString().slice(0, 16);
}
