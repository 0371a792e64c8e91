import { instantOfText, wallText } from '../timezone.js';
import { Field, type FieldProps, Select, TextInput } from './field.js';
import { timezoneOptions } from './timezone-options.js';

interface CalendarFieldProps<Value> extends Pick<FieldProps, 'hint' | 'error' | 'className'> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A field for the timezone of periods. */
export function TimezoneField({ value, onChange, ...field }: CalendarFieldProps<string>) {
  return (
    <Field label="Timezone" {...field}>
      {(control) => (
        <Select
          {...control}
          className="w-full"
          options={timezoneOptions(value)}
          value={value}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

/** A field for the time from which periods are counted, in Unix seconds. It is shown in the timezone. */
export function AnchorField({
  value,
  timezone,
  isRequired = false,
  onChange,
  ...field
}: CalendarFieldProps<number | undefined> & { readonly timezone: string; readonly isRequired?: boolean }) {
  return (
    <Field label="Period anchor" {...field}>
      {(control) => (
        <TextInput
          {...control}
          type="datetime-local"
          required={isRequired}
          value={value === undefined ? '' : wallText(value, timezone)}
          onChange={(event) => onChange(instantOfText(event.target.value, timezone))}
        />
      )}
    </Field>
  );
}
