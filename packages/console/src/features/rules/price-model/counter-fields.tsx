import { COUNTER_DIMENSIONS_MAX, type Cumulative } from '@tollgate/contract';
import { Choices } from '../../../ui/choices.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { withField } from '../body.js';
import { useFindingAt, useRulesForm } from '../form/context.js';
import { ChoiceField, type FormPart, TextField } from '../form/fields.js';
import { FieldGrid } from '../form/section.js';

const PERIODS = [
  { value: 'minute', label: 'Calendar minute' },
  { value: 'hour', label: 'Calendar hour' },
  { value: 'day', label: 'Calendar day' },
  { value: 'week', label: 'Calendar week' },
  { value: 'month', label: 'Calendar month' },
  { value: 'year', label: 'Calendar year' },
  { value: 'lifetime', label: 'Lifetime, never restarts' },
] as const;
const CUSTOM = 'custom';
const CUSTOM_DEFAULT = '7d';
const SCOPES = [
  { value: 'subject', label: 'Each subject' },
  { value: 'account', label: 'Each account' },
  { value: 'project', label: 'The whole project' },
];
const AGGREGATES = [
  { value: 'sum', label: 'Sum of the quantities' },
  { value: 'count', label: 'Number of charge items' },
  { value: 'max', label: 'Greatest quantity' },
  { value: 'unique', label: 'Distinct values of a dimension' },
];

/** When the total restarts, and for whom there is one. */
export function PeriodFields(part: FormPart<Cumulative>) {
  return (
    <FieldGrid>
      <PeriodOfCounter {...part} />
      <ChoiceField
        {...part}
        name="per"
        label="Counted for"
        hint="Each one has a total of its own."
        options={SCOPES}
      />
    </FieldGrid>
  );
}

/** The definition of the total, and the counter that keeps it. */
export function CounterFields(part: FormPart<Cumulative>) {
  const { value, path, onChange } = part;
  const { dimensionNames } = useRulesForm();
  const { by = [], aggregate = 'sum' } = value;
  const names = [...new Set([...dimensionNames, ...by])];
  const setAggregate = (next: Cumulative) =>
    onChange(withField(next, 'of', next.aggregate === 'unique' ? (value.of ?? '') : undefined));
  return (
    <>
      <FieldGrid>
        <ChoiceField
          {...part}
          value={{ ...value, aggregate }}
          onChange={setAggregate}
          name="aggregate"
          label="Total"
          options={AGGREGATES}
        />
        {(aggregate === 'unique' || value.of !== undefined) && (
          <TextField
            {...part}
            name="of"
            label="Values of dimension"
            isRequired
            isCode
            placeholder="user_id"
          />
        )}
        <TextField
          {...part}
          name="counter"
          label="Counter"
          hint="Rules of this rule set with the same counter share its total."
          isRequired
          isCode
        />
      </FieldGrid>
      {names.length > 0 && (
        <Choices
          label="Separate totals by"
          names={names}
          chosen={by}
          max={COUNTER_DIMENSIONS_MAX}
          onChange={(next) => onChange(withField(value, 'by', next.length === 0 ? undefined : next))}
        />
      )}
      <FindingsIn path={path} />
    </>
  );
}

/** Errors that belong to the counter as a whole, or to one of its dimensions. */
function FindingsIn({ path }: { readonly path: string }) {
  const { findings } = useRulesForm();
  const own = findings.filter(({ path: at }) => at === path || at.startsWith(`${path}.by`));
  return own.map(({ path: at, message }) => (
    <p key={`${at} ${message}`} className="text-xs text-bad">
      {message}
    </p>
  ));
}

function PeriodOfCounter({ value, path, onChange }: FormPart<Cumulative>) {
  const { isReadOnly } = useRulesForm();
  const { period } = value;
  const isNamed = PERIODS.some((each) => each.value === period);
  const set = (next: string) => onChange({ ...value, period: next });
  return (
    <Field
      label="Period"
      hint={
        isNamed
          ? 'The total restarts with each period.'
          : 'Counted from the anchor of the subject or account: 5h, 7d, 1 month.'
      }
      error={useFindingAt(`${path}.period`)}
    >
      {(control) => (
        <div className="flex gap-2">
          <Select
            {...control}
            className="min-w-0 grow"
            disabled={isReadOnly}
            options={[...PERIODS, { value: CUSTOM, label: 'Custom duration' }]}
            value={isNamed ? period : CUSTOM}
            onChange={(chosen) => set(chosen === CUSTOM ? CUSTOM_DEFAULT : chosen)}
          />
          {!isNamed && (
            <TextInput
              aria-label="Duration"
              className="w-24"
              readOnly={isReadOnly}
              value={period}
              onChange={(event) => set(event.target.value)}
            />
          )}
        </div>
      )}
    </Field>
  );
}
