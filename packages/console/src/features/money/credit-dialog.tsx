import { type FormEvent, useState } from 'react';
import { newIdempotencyKey } from '../../api/idempotency-key.js';
import { Button } from '../../ui/button.js';
import { Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { FailureNote } from '../../ui/states.js';
import { useWalletChanges } from './api.js';

interface CreditFormProps {
  readonly accountId: string;
  readonly currencies: readonly string[];
  readonly onClose: () => void;
}

/** Puts credit into a wallet; the wallet is opened, if need be. */
export function CreditDialog({ isOpen, ...rest }: CreditFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog title="Add credit" isOpen={isOpen} onClose={rest.onClose}>
      <CreditForm {...rest} />
    </Dialog>
  );
}

function CreditForm({ accountId, currencies, onClose }: CreditFormProps) {
  const { credit } = useWalletChanges(accountId);
  const [amount, setAmount] = useState('');
  const [currency, setCurrency] = useState(currencies[0] ?? 'USD');
  const [description, setDescription] = useState('');
  const [expires, setExpires] = useState('');
  // One key for as long as the form is open: sent twice, the credit is given once.
  const [key] = useState(() => newIdempotencyKey());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      amount: amount.trim(),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
      ...(expires === '' ? {} : { expires_at: Math.floor(new Date(expires).getTime() / 1_000) }),
    };
    credit.mutate({ currency: currency.trim().toUpperCase(), key, body }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <AmountFields amount={amount} currency={currency} onAmount={setAmount} onCurrency={setCurrency} />
      <Field label="Description" hint="Optional; it appears in the ledger.">
        {(control) => (
          <TextInput
            {...control}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </Field>
      <Field label="Expires" hint="Optional; what is left then is taken back.">
        {(control) => (
          <TextInput
            {...control}
            type="datetime-local"
            value={expires}
            onChange={(event) => setExpires(event.target.value)}
          />
        )}
      </Field>
      {credit.isError && <FailureNote error={credit.error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" isBusy={credit.isPending}>
          Add credit
        </Button>
      </DialogActions>
    </form>
  );
}

function AmountFields({
  amount,
  currency,
  onAmount,
  onCurrency,
}: {
  readonly amount: string;
  readonly currency: string;
  readonly onAmount: (amount: string) => void;
  readonly onCurrency: (currency: string) => void;
}) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_7rem] gap-3">
      <Field label="Amount">
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            inputMode="decimal"
            value={amount}
            onChange={(event) => onAmount(event.target.value)}
          />
        )}
      </Field>
      <Field label="Currency">
        {(control) => (
          <TextInput
            {...control}
            required
            value={currency}
            onChange={(event) => onCurrency(event.target.value)}
          />
        )}
      </Field>
    </div>
  );
}
