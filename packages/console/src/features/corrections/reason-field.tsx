import { CORRECTION_REASON_CHARS_MAX } from '@tollgate/contract';
import { Field, TextArea } from '../../ui/field.js';

/** The reason of a correction, or of its change. */
export function ReasonField({
  value,
  error,
  hint = 'Kept for ever, and shown in the history of each event.',
  isOptional = false,
  onChange,
}: {
  readonly value: string;
  readonly error?: string | undefined;
  readonly hint?: string;
  readonly isOptional?: boolean;
  readonly onChange: (reason: string) => void;
}) {
  return (
    <Field label="Reason" hint={hint} error={error}>
      {(control) => (
        <TextArea
          {...control}
          rows={2}
          required={!isOptional}
          maxLength={CORRECTION_REASON_CHARS_MAX}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
