import type { Account } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { FailureNote } from '../../ui/states.js';
import { useCreateAccount } from './api.js';

/** Form to create an account. */
export function AccountDialog({
  isOpen,
  onClose,
  onCreated,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onCreated: (account: Account) => void;
}) {
  return (
    <Dialog
      title="New account"
      description="An account pays for the usage of every subject that is routed to it."
      isOpen={isOpen}
      onClose={onClose}
    >
      <AccountForm onCreated={onCreated} />
    </Dialog>
  );
}

function AccountForm({ onCreated }: { readonly onCreated: (account: Account) => void }) {
  const create = useCreateAccount();
  const [name, setName] = useState('');
  const [externalId, setExternalId] = useState('');
  const errors = fieldErrorsOf(create.error, ['name', 'external_id']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { name: name.trim(), ...(externalId === '' ? {} : { external_id: externalId }) };
    create.mutate(body, { onSuccess: onCreated });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Field label="Name" error={errors.at('name')}>
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="External ID"
        hint="Optional. Your own ID of the account, unique in the project. Cannot be changed later."
        error={errors.at('external_id')}
      >
        {(control) => (
          <TextInput
            {...control}
            value={externalId}
            onChange={(event) => setExternalId(event.target.value)}
          />
        )}
      </Field>
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={create.isPending}>
          Create account
        </Button>
      </DialogActions>
    </form>
  );
}
