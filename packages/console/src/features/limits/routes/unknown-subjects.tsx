import { UNKNOWN_SUBJECTS, type UnknownSubjects } from '@tollgate/contract';
import { useMay } from '../../../api/session.js';
import { Field, Select } from '../../../ui/field.js';
import { FailureNote } from '../../../ui/states.js';
import { useProjectSettings, useSaveProjectSettings } from './api.js';

const LABELS: Readonly<Record<UnknownSubjects, string>> = {
  allow: 'Allow checks and leases',
  deny: 'Deny checks and leases',
};
const OPTIONS = UNKNOWN_SUBJECTS.map((value) => ({ value, label: LABELS[value] }));

/** The setting of the project for subjects without a route. */
export function UnknownSubjectsField() {
  return useMay('usage_control:write') ? <SettingField /> : null;
}

function SettingField() {
  const settings = useProjectSettings();
  const save = useSaveProjectSettings();
  if (settings.data === undefined) return null;
  return (
    <section aria-label="Subjects without a route" className="flex flex-col gap-2">
      <Field
        label="Subjects without a route"
        hint="No limit applies to them. Their events are always accepted."
        className="max-w-72"
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={OPTIONS}
            value={
              save.isPending ? (save.variables.unknown_subjects ?? 'allow') : settings.data.unknown_subjects
            }
            onChange={(unknown_subjects) => save.mutate({ unknown_subjects })}
          />
        )}
      </Field>
      {save.isError && <FailureNote error={save.error} />}
    </section>
  );
}
