import { CORRECTION_REASON_CHARS_MAX } from '@tollgate/contract';
import { Field, TextArea } from '../../ui/field.js';

/** The reason of a correction, which every write needs. */
export function ReasonField({
  value,
  error,
  onChange,
}: {
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (reason: string) => void;
}) {
  return (
    <Field label="Reason" hint="Kept for ever, and shown in the history of each event." error={error}>
      {(control) => (
        <TextArea
          {...control}
          rows={2}
          required
          maxLength={CORRECTION_REASON_CHARS_MAX}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
