import { useId, useState } from 'react';
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
  error,
  value,
  placeholder,
  onChange,
  ...field
}: Omit<FieldProps, 'children'> & NumberInputProps) {
  const { isReadOnly } = useRulesForm();
  const { shownError, onBlur } = useErrorOnceLeft(value, error);
  return (
    <Field {...field} error={shownError}>
      {(control) => (
        <TextInput
          {...control}
          className="tabular w-full"
          inputMode="decimal"
          readOnly={isReadOnly}
          placeholder={placeholder}
          value={value}
          onBlur={onBlur}
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
  const { shownError, onBlur } = useErrorOnceLeft(value, error);
  return (
    <>
      <TextInput
        aria-label={label}
        aria-invalid={shownError !== undefined}
        aria-describedby={id}
        className="tabular w-full min-w-16"
        inputMode="decimal"
        readOnly={isReadOnly}
        placeholder={placeholder}
        value={value}
        onBlur={onBlur}
        onChange={(event) => onChange(plainNumber(event.target.value))}
      />
      <p id={id} className="mt-1 text-xs text-bad empty:hidden">
        {shownError}
      </p>
    </>
  );
}

/** Shows the error of an empty field only once the field was left: a new form does not begin with errors. */
function useErrorOnceLeft(value: string, error: string | undefined) {
  const [wasLeft, setWasLeft] = useState(false);
  return { shownError: value === '' && !wasLeft ? undefined : error, onBlur: () => setWasLeft(true) };
}
