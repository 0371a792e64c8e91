import { type CreatedApiKey, PERMISSIONS, type Permission } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { Choices } from '../../ui/choices.js';
import { Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select, TextInput } from '../../ui/field.js';
import { ShownOnce } from '../../ui/shown-once.js';
import { FailureNote } from '../../ui/states.js';
import { useApiKeyChanges } from './api.js';

const SCOPES = [
  { value: 'project', label: 'This project' },
  { value: 'tenant', label: 'Every project' },
] as const;
type Scope = (typeof SCOPES)[number]['value'];

/** Makes a key, and shows it the only time that it can be seen. */
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
      onClose={close}
    >
      {created === undefined ? (
        <KeyForm onClose={close} onCreated={setCreated} />
      ) : (
        <ShownKey created={created} onClose={close} />
      )}
    </Dialog>
  );
}

function KeyForm({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (key: CreatedApiKey) => void;
}) {
  const { id: projectId } = useProject();
  const { create } = useApiKeyChanges();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('project');
  const [permissions, setPermissions] = useState<readonly Permission[]>(['usage:ingest']);
  const names =
    scope === 'tenant' ? PERMISSIONS : PERMISSIONS.filter((permission) => permission !== 'tenant:admin');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      name: name.trim(),
      permissions: names.filter((permission) => permissions.includes(permission)),
      ...(scope === 'project' ? { project_id: projectId } : {}),
    };
    create.mutate(body, { onSuccess: onCreated });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Field label="Name" hint="What will use it.">
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            maxLength={80}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field label="Reaches">
        {(control) => (
          <Select {...control} className="w-full" options={SCOPES} value={scope} onChange={setScope} />
        )}
      </Field>
      <Choices
        label="May"
        names={names}
        chosen={permissions}
        max={names.length}
        onChange={(chosen) => setPermissions(PERMISSIONS.filter((permission) => chosen.includes(permission)))}
      />
      {create.isError && <FailureNote error={create.error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
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
        It is shown this once: what is stored cannot be turned back into it.
      </ShownOnce>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}
