import { Field, TextInput } from '../../../ui/field.js';
import { withField } from '../body.js';
import { momentText, unixSecondsOf } from '../moment.js';
import { useFindingAt, useRulesForm } from './context.js';
import { type FormPart, TextField } from './fields.js';

interface General {
  readonly name: string;
  readonly effective_from?: number;
}

/** The fields that both kinds of rule sets have. */
export function GeneralFields<T extends General>({ value, onChange }: Omit<FormPart<T>, 'path'>) {
  const { isReadOnly } = useRulesForm();
  const general: FormPart<General> = { value, path: '', onChange: (next) => onChange(next as T) };
  const { effective_from: from } = value;
  return (
    <>
      <TextField {...general} name="name" label="Name" isRequired />
      <Field
        label="Effective from (UTC)"
        hint="Applies to events that occur from this time. You can change it when you publish."
        error={useFindingAt('effective_from')}
      >
        {(control) => (
          <TextInput
            {...control}
            type="datetime-local"
            step={1}
            readOnly={isReadOnly}
            value={from === undefined ? '' : momentText(from)}
            onChange={(event) =>
              general.onChange(
                withField<General, 'effective_from'>(
                  value,
                  'effective_from',
                  unixSecondsOf(event.target.value),
                ),
              )
            }
          />
        )}
      </Field>
    </>
  );
}
