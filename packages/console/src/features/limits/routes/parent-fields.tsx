import { Field, TextInput } from '../../../ui/field.js';
import type { FieldErrors } from '../../../ui/field-errors.js';
import type { RouteDraft } from './route-draft.js';

interface ParentFieldsProps {
  readonly draft: RouteDraft;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<RouteDraft>) => void;
}

/** The subject above, in whose windows usage counts too. */
export function ParentFields({ draft, errors, onEdit }: ParentFieldsProps) {
  return (
    <div className="grid items-start gap-3 sm:grid-cols-2">
      <Field label="Parent type" hint="The subject above, e.g. team. Its limits apply too.">
        {(control) => (
          <TextInput
            {...control}
            value={draft.parent_type}
            onChange={(event) => onEdit({ parent_type: event.target.value })}
          />
        )}
      </Field>
      <Field label="Parent ID" hint="Leave both empty for none." error={errors.at('parent')}>
        {(control) => (
          <TextInput
            {...control}
            value={draft.parent_id}
            onChange={(event) => onEdit({ parent_id: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}
