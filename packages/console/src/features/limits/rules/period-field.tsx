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

/** How long a rule counts before it starts anew. */
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
      ? 'Counted from the anchor of the route on.'
      : choice === 'lifetime'
        ? 'Counts as long as the rule is there.'
        : 'Of the route’s timezone; its week begins as the route says.';
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
                aria-label="How many"
                inputMode="numeric"
                className="w-16"
                value={duration.count}
                onChange={(event) =>
                  onChange(durationText({ ...duration, count: event.target.value.replace(/\D/g, '') }))
                }
              />
              <Select
                aria-label="Of what"
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
