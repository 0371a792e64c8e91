import { Field, Select, TextInput } from '../../../ui/field.js';
import {
  durationOf,
  durationText,
  PERIOD_CHOICES,
  PERIOD_UNITS,
  type PeriodChoice,
  periodChoice,
} from './period.js';

const DURATION_DEFAULT = '7 day';

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
  const hint =
    choice === 'duration'
      ? 'Counted from the route’s period anchor.'
      : choice === 'lifetime'
        ? 'Counts for as long as the rule exists.'
        : 'In the route’s timezone and with its week start.';
  return (
    <Field label="Period" hint={hint} error={error} className="sm:col-span-2">
      {(control) => (
        <div className="flex gap-2">
          <Select
            {...control}
            className="min-w-0 grow"
            options={PERIOD_CHOICES}
            value={choice}
            onChange={(chosen: PeriodChoice) => onChange(chosen === 'duration' ? DURATION_DEFAULT : chosen)}
          />
          {choice === 'duration' && (
            <>
              <TextInput
                aria-label="Duration"
                inputMode="numeric"
                className="w-16"
                value={duration.count}
                onChange={(event) =>
                  onChange(durationText({ ...duration, count: event.target.value.replace(/\D/g, '') }))
                }
              />
              <Select
                aria-label="Duration unit"
                options={PERIOD_UNITS}
                value={duration.unit}
                onChange={(unit) => onChange(durationText({ ...duration, unit }))}
              />
            </>
          )}
        </div>
      )}
    </Field>
  );
}
