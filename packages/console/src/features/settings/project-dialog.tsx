import type { ProjectKind } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useCreateProject } from '../../api/projects.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { NameField } from '../../ui/name-field.js';
import { FailureNote } from '../../ui/states.js';

const KINDS = [
  { value: 'development', label: 'Development' },
  { value: 'release', label: 'Release' },
] as const;
const MEANINGS: Readonly<Record<ProjectKind, string>> = {
  development: 'For testing. It works like a release project.',
  release: 'For production. Some subscription plans store its usage apart from other projects.',
};

/** Form to create a project, which it then opens. */
export function ProjectDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="New project" isOpen={isOpen} onClose={onClose}>
      <ProjectForm />
    </Dialog>
  );
}

function ProjectForm() {
  const create = useCreateProject(useProject().tenant_id);
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<ProjectKind>('development');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name: name.trim(), kind }, { onSuccess: ({ id }) => navigate(`/p/${id}/boards`) });
  };
  const errors = fieldErrorsOf(create.error, ['name', 'kind']);
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <NameField
        error={errors.at('name')}
        hint="Cannot be changed later."
        value={name}
        onChange={setName}
        autoFocus
      />
      <Field label="Kind" error={errors.at('kind')} hint={MEANINGS[kind]}>
        {(control) => (
          <Select {...control} className="w-full" options={KINDS} value={kind} onChange={setKind} />
        )}
      </Field>
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={create.isPending}>
          Create project
        </Button>
      </DialogActions>
    </form>
  );
}
