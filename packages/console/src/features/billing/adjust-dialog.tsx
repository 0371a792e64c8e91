import { type FormEvent, useState } from 'react';
import { useRequestKey } from '../../api/use-request-key.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { fieldErrorsOf } from '../../ui/field-errors.js';
import { FailureNote } from '../../ui/states.js';
import { AmountFields, sumOf } from './amount-fields.js';
import { useWalletChanges } from './api.js';

interface AdjustFormProps {
  readonly accountId: string;
  readonly currency: string;
  readonly onClose: () => void;
}

const FIELDS = ['amount', 'currency', 'reason'];

/** Form to correct the balance of a wallet. */
export function AdjustDialog({ isOpen, ...form }: AdjustFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog
      title="Adjust balance"
      description="Corrects a balance with a new ledger entry, which cannot be changed later."
      isOpen={isOpen}
      onClose={form.onClose}
    >
      <AdjustForm {...form} />
    </Dialog>
  );
}

function AdjustForm({ accountId, currency, onClose }: AdjustFormProps) {
  const { adjust } = useWalletChanges(accountId);
  const [sum, setSum] = useState({ amount: '', currency });
  const [reason, setReason] = useState('');
  const { amount, currency: adjusted } = sumOf(sum);
  const body = { amount, reason: reason.trim() };
  const key = useRequestKey({ adjusted, ...body });
  const errors = fieldErrorsOf(adjust.error, FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adjust.mutate({ currency: adjusted, key, body }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <AmountFields
        sum={sum}
        hint="A positive amount adds credit without an expiry. A negative amount, e.g. -25.5, is deducted."
        errors={errors}
        onEdit={setSum}
      />
      <Field label="Reason" hint="Shown in the ledger." error={errors.at('reason')}>
        {(control) => (
          <TextInput
            {...control}
            required
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={adjust.isPending}>
          Adjust balance
        </Button>
      </DialogActions>
    </form>
  );
}
