import type { CreatedApiKey, Permission } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import { type FormEvent, useState } from 'react';
import { nowS } from '../../clock.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { NameField } from '../../ui/name-field.js';
import { ShownOnce } from '../../ui/shown-once.js';
import { FailureNote } from '../../ui/states.js';
import { useApiKeyChanges } from './api.js';
import { PermissionFields } from './permission-fields.js';

const SCOPES = [
  { value: 'project', label: 'This project' },
  { value: 'tenant', label: 'All projects' },
] as const;
type Scope = (typeof SCOPES)[number]['value'];
/** In days. */
const LIFETIMES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
] as const;
type Lifetime = (typeof LIFETIMES)[number]['value'];

/** Creates an API key and shows it once. */
export function KeyDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const [created, setCreated] = useState<CreatedApiKey>();
  const close = () => {
    onClose();
    setCreated(undefined);
  };
  return (
    <Dialog
      title={created === undefined ? 'New API key' : 'Copy the key now'}
      isOpen={isOpen}
      isDirty={created === undefined ? undefined : true}
      loss={created === undefined ? undefined : 'The key is shown only once. You cannot view it again.'}
      onClose={close}
    >
      {created === undefined ? (
        <KeyForm onCreated={setCreated} />
      ) : (
        <ShownKey created={created} onClose={close} />
      )}
    </Dialog>
  );
}

function KeyForm({ onCreated }: { readonly onCreated: (key: CreatedApiKey) => void }) {
  const { id: projectId } = useProject();
  const { create } = useApiKeyChanges();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('project');
  const [lifetime, setLifetime] = useState<Lifetime>('');
  const [chosen, setChosen] = useState<readonly Permission[]>(['usage:ingest']);
  const permissions = chosen.filter((each) => scope === 'tenant' || each !== 'tenant:admin');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      name: name.trim(),
      permissions,
      ...(scope === 'project' ? { project_id: projectId } : {}),
      ...(lifetime === '' ? {} : { expires_at: nowS() + Number(lifetime) * DAY_S }),
    };
    create.mutate(body, { onSuccess: onCreated });
  };
  const errors = fieldErrorsOf(create.error, ['name']);
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <NameField
        error={errors.at('name')}
        hint="Used by, for example: gateway."
        value={name}
        onChange={setName}
        autoFocus
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Scope">
          {(control) => (
            <Select {...control} className="w-full" options={SCOPES} value={scope} onChange={setScope} />
          )}
        </Field>
        <Field label="Expires">
          {(control) => (
            <Select
              {...control}
              className="w-full"
              options={LIFETIMES}
              value={lifetime}
              onChange={setLifetime}
            />
          )}
        </Field>
      </div>
      <PermissionFields chosen={permissions} isWholeTenant={scope === 'tenant'} onChange={setChosen} />
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={create.isPending} disabled={permissions.length === 0}>
          Create key
        </Button>
      </DialogActions>
    </form>
  );
}

function ShownKey({ created, onClose }: { readonly created: CreatedApiKey; readonly onClose: () => void }) {
  return (
    <>
      <ShownOnce secret={created.key}>
        This is the only time the key is shown. Keep it in a safe place.
      </ShownOnce>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}
