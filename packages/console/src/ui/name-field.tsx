import { NAME_CHARS_MAX } from '@tollgate/contract';
import { Field, type FieldProps, TextInput } from './field.js';

export interface NameFieldProps extends Pick<FieldProps, 'hint' | 'error' | 'className'> {
  readonly label?: string;
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly autoFocus?: boolean;
}

/** A field for a required name, with the length limit of the service. */
export function NameField({ label = 'Name', value, onChange, autoFocus = false, ...field }: NameFieldProps) {
  return (
    <Field label={label} {...field}>
      {(control) => (
        <TextInput
          {...control}
          required
          autoFocus={autoFocus}
          maxLength={NAME_CHARS_MAX}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
