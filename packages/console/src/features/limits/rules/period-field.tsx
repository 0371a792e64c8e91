import { Field, Select, TextInput } from '../../../ui/field.js';
import {
  durationOf,
  hasDuration,
  PERIOD_CHOICES,
  PERIOD_UNITS,
  type PeriodChoice,
  periodChoice,
  periodOf,
} from './period.js';

const DURATION_DEFAULT = { count: '7', unit: 'day' } as const;

const CALENDAR_HINT = 'In the route’s timezone and with its week start.';
const HINTS: Partial<Record<PeriodChoice, string>> = {
  duration: 'Counted from the route’s period anchor.',
  first_use: 'Starts with the first usage after the last window has ended.',
  sliding: 'Counts the usage of the last duration until now; it never resets at once.',
  lifetime: 'Counts for as long as the rule exists.',
};

/** The period after which a rule's counter resets. */
export function PeriodField({
  period,
  error,
  onChange,
}: {
  readonly period: string;
  readonly error: string | undefined;
  readonly onChange: (period: string) => void;
}) {
  const choice = periodChoice(period);
  const duration = durationOf(period) ?? { count: '', unit: 'day' };
  const hint = HINTS[choice] ?? CALENDAR_HINT;
  return (
    <Field label="Period" hint={hint} error={error} className="sm:col-span-2">
      {(control) => (
        <div className="flex gap-2">
          <Select
            {...control}
            className="min-w-0 grow"
            options={PERIOD_CHOICES}
            value={choice}
            onChange={(chosen: PeriodChoice) => onChange(periodOf(chosen, DURATION_DEFAULT))}
          />
          {hasDuration(choice) && (
            <>
              <TextInput
                aria-label="Duration"
                inputMode="numeric"
                className="w-16"
                value={duration.count}
                onChange={(event) =>
                  onChange(periodOf(choice, { ...duration, count: event.target.value.replace(/\D/g, '') }))
                }
              />
              <Select
                aria-label="Duration unit"
                options={PERIOD_UNITS}
                value={duration.unit}
                onChange={(unit) => onChange(periodOf(choice, { ...duration, unit }))}
              />
            </>
          )}
        </div>
      )}
    </Field>
  );
}
