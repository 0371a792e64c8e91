import { type FormEvent, useState } from 'react';
import { newIdempotencyKey } from '../../api/idempotency-key.js';
import { Button } from '../../ui/button.js';
import { Dialog, DialogActions } from '../../ui/dialog.js';
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
      isDirty
    >
      <AdjustForm {...form} />
    </Dialog>
  );
}

function AdjustForm({ accountId, currency, onClose }: AdjustFormProps) {
  const { adjust } = useWalletChanges(accountId);
  const [sum, setSum] = useState({ amount: '', currency });
  const [reason, setReason] = useState('');
  // Sent twice it is done once; another request needs another key.
  const [key, setKey] = useState(() => newIdempotencyKey());
  const errors = fieldErrorsOf(adjust.error, FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { amount, currency: of } = sumOf(sum);
    adjust.mutate({ currency: of, key, body: { amount, reason: reason.trim() } }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <AmountFields
        sum={sum}
        hint="Above 0 it is a credit without an end; below 0, as -25.5, it takes out what is there."
        errors={errors}
        onEdit={(next) => {
          setKey(newIdempotencyKey());
          setSum(next);
        }}
      />
      <Field label="Reason" hint="It appears in the ledger." error={errors.at('reason')}>
        {(control) => (
          <TextInput
            {...control}
            required
            value={reason}
            onChange={(event) => {
              setKey(newIdempotencyKey());
              setReason(event.target.value);
            }}
          />
        )}
      </Field>
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" isBusy={adjust.isPending}>
          Adjust
        </Button>
      </DialogActions>
    </form>
  );
}
