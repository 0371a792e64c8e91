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

/** Corrects a wallet by hand. */
export function AdjustDialog({ isOpen, ...form }: AdjustFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog
      title="Adjust a wallet"
      description="A correction by hand, for good: the ledger is never changed."
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
  const { amount, currency: of } = sumOf(sum);
  const body = { amount, reason: reason.trim() };
  const key = useRequestKey({ of, ...body });
  const errors = fieldErrorsOf(adjust.error, FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adjust.mutate({ currency: of, key, body }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <AmountFields
        sum={sum}
        hint="Above 0 it is a credit without an end; below 0, as -25.5, it takes out what is there."
        errors={errors}
        onEdit={setSum}
      />
      <Field label="Reason" hint="It appears in the ledger." error={errors.at('reason')}>
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
          Adjust
        </Button>
      </DialogActions>
    </form>
  );
}
