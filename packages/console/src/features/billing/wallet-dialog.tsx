import type { WalletMode } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select, TextInput } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { FailureNote } from '../../ui/states.js';
import { useWalletChanges } from './api.js';

interface WalletFormProps {
  readonly accountId: string;
  readonly onClose: () => void;
}

const MODES = [
  { value: 'postpaid', label: 'Postpaid: balance may fall below zero' },
  { value: 'prepaid', label: 'Prepaid: balance never falls below zero' },
] as const;

/** Form to create a wallet in a currency. */
export function WalletDialog({ isOpen, ...form }: WalletFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog
      title="Create a wallet"
      description="The first usage or credit in a currency also creates one."
      isOpen={isOpen}
      onClose={form.onClose}
    >
      <WalletForm {...form} />
    </Dialog>
  );
}

function WalletForm({ accountId, onClose }: WalletFormProps) {
  const { setMode: open } = useWalletChanges(accountId);
  const [currency, setCurrency] = useState('');
  const [mode, setMode] = useState<WalletMode>('prepaid');
  const errors = fieldErrorsOf(open.error, ['currency', 'mode']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    open.mutate({ currency: currency.trim().toUpperCase(), mode }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Field
        label="Currency"
        hint="ISO 4217 code, or a custom unit such as CREDITS."
        error={errors.at('currency')}
      >
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            value={currency}
            onChange={(event) => setCurrency(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Mode"
        hint="Usage beyond a prepaid balance is owed. The next credit pays it first."
        error={errors.at('mode')}
      >
        {(control) => (
          <Select {...control} className="w-full" options={MODES} value={mode} onChange={setMode} />
        )}
      </Field>
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={open.isPending}>
          Create wallet
        </Button>
      </DialogActions>
    </form>
  );
}
