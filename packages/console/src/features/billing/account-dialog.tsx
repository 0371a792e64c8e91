import type { Account } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { FailureNote } from '../../ui/states.js';
import {
  ACCOUNT_FIELDS,
  type AccountDraft,
  accountChanges,
  accountDraftOf,
  hasValidMetadata,
  NEW_ACCOUNT,
  newAccountBody,
} from './account-draft.js';
import { AccountFields } from './account-fields.js';
import { useSaveAccount } from './api.js';

interface AccountFormProps {
  /** The account to edit; without it, the form creates one. */
  readonly account?: Account;
  readonly onSaved: (account: Account) => void;
}

/** Form to create an account, or to edit one. */
export function AccountDialog({
  isOpen,
  onClose,
  ...form
}: AccountFormProps & { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Dialog
      title={form.account === undefined ? 'New account' : 'Edit account'}
      description="An account pays for the usage of every subject that is routed to it."
      isOpen={isOpen}
      onClose={onClose}
    >
      <AccountForm {...form} />
    </Dialog>
  );
}

function AccountForm({ account, onSaved }: AccountFormProps) {
  const [initial] = useState(() => (account === undefined ? NEW_ACCOUNT : accountDraftOf(account)));
  const [draft, setDraft] = useState<AccountDraft>(initial);
  const { create, update } = useSaveAccount();
  const save = account === undefined ? create : update;
  const errors = fieldErrorsOf(save.error, ACCOUNT_FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (account === undefined) create.mutate(newAccountBody(draft), { onSuccess: onSaved });
    else update.mutate({ id: account.id, changes: accountChanges(initial, draft) }, { onSuccess: onSaved });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <AccountFields
        draft={draft}
        isNew={account === undefined}
        errors={errors}
        onEdit={(change) => setDraft({ ...draft, ...change })}
      />
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={save.isPending} disabled={!hasValidMetadata(draft)}>
          {account === undefined ? 'Create account' : 'Save'}
        </Button>
      </DialogActions>
    </form>
  );
}
