import { useId } from 'react';
import { plainNumber } from '../../../plain-number.js';
import { Field, type FieldProps, TextInput } from '../../../ui/field.js';
import { useRulesForm } from '../form/context.js';

interface NumberInputProps {
  readonly value: string;
  readonly placeholder?: string;
  readonly onChange: (text: string) => void;
}

/** A field for an exact number; separators of thousands are removed as they are typed. */
export function NumberField({
  value,
  placeholder,
  onChange,
  ...field
}: Omit<FieldProps, 'children'> & NumberInputProps) {
  const { isReadOnly } = useRulesForm();
  return (
    <Field {...field}>
      {(control) => (
        <TextInput
          {...control}
          className="tabular w-full"
          inputMode="decimal"
          readOnly={isReadOnly}
          placeholder={placeholder}
          value={value}
          onChange={(event) => onChange(plainNumber(event.target.value))}
        />
      )}
    </Field>
  );
}

/** The same within a table: its label is heard, and its error stands below it. */
export function NumberCell({
  label,
  error,
  value,
  placeholder,
  onChange,
}: NumberInputProps & { readonly label: string; readonly error: string | undefined }) {
  const { isReadOnly } = useRulesForm();
  const id = useId();
  return (
    <>
      <TextInput
        aria-label={label}
        aria-invalid={error !== undefined}
        aria-describedby={id}
        className="tabular w-full min-w-16"
        inputMode="decimal"
        readOnly={isReadOnly}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(plainNumber(event.target.value))}
      />
      <p id={id} className="mt-1 text-xs text-bad empty:hidden">
        {error}
      </p>
    </>
  );
}
