import { useMemo } from 'react';
import { AnchorField, TimezoneField } from '../../ui/calendar-fields.js';
import { CodeEditor } from '../../ui/code/code-editor.js';
import { Field, TextInput } from '../../ui/field.js';
import type { FieldErrors } from '../../ui/field-errors.js';
import { NameField } from '../../ui/name-field.js';
import { jsonProblem } from '../rules/trial/json-input.js';
import type { AccountDraft } from './account-draft.js';

const METADATA_HEIGHT_PX = 72;
const METADATA_HEIGHT_PX_MAX = 240;

interface AccountFieldsProps {
  readonly draft: AccountDraft;
  readonly isNew: boolean;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<AccountDraft>) => void;
}

/** All fields of the account form. */
export function AccountFields(props: AccountFieldsProps) {
  const { draft, errors, onEdit } = props;
  return (
    <>
      <NameField
        autoFocus
        error={errors.at('name')}
        value={draft.name}
        onChange={(name) => onEdit({ name })}
      />
      <Field
        label="External ID"
        hint="Optional. Your own ID of the account, unique in the project."
        error={errors.at('external_id')}
      >
        {(control) => (
          <TextInput
            {...control}
            value={draft.external_id}
            onChange={(event) => onEdit({ external_id: event.target.value })}
          />
        )}
      </Field>
      <CounterFields {...props} />
      <MetadataField {...props} />
    </>
  );
}

/** The calendar of the account's counters. */
function CounterFields({ draft: { timezone, anchor }, isNew, errors, onEdit }: AccountFieldsProps) {
  const start = 'Start of counter periods such as 7 days, in this timezone.';
  return (
    <div className="grid items-start gap-x-3 gap-y-4 sm:grid-cols-2">
      <TimezoneField
        hint="Days and months of counters start at midnight here."
        error={errors.at('timezone')}
        value={timezone}
        onChange={(chosen) => onEdit({ timezone: chosen })}
      />
      <AnchorField
        hint={isNew ? `${start} Leave empty to start now.` : start}
        error={errors.at('anchor')}
        isRequired={!isNew}
        value={anchor}
        timezone={timezone}
        onChange={(chosen) => onEdit({ anchor: chosen })}
      />
      {!isNew && (
        <p className="text-xs text-ink-faint sm:col-span-2">
          A new timezone or anchor applies from the next period of each counter on.
        </p>
      )}
    </div>
  );
}

function MetadataField({ draft: { metadata }, errors, onEdit }: AccountFieldsProps) {
  const { message, findings } = useMemo(() => jsonProblem(metadata), [metadata]);
  return (
    <Field
      label="Metadata"
      hint="Optional. Your own fields, as a JSON object."
      error={message ?? errors.at('metadata')}
    >
      {(control) => (
        <CodeEditor
          control={control}
          language="json"
          label="Metadata"
          placeholder='{"segment": "enterprise"}'
          minHeight={METADATA_HEIGHT_PX}
          maxHeight={METADATA_HEIGHT_PX_MAX}
          findings={findings}
          value={metadata}
          onChange={(text) => onEdit({ metadata: text })}
        />
      )}
    </Field>
  );
}
