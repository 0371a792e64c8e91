import { type FormEvent, useState } from 'react';
import { useRequestKey } from '../../api/use-request-key.js';
import { instantOfText } from '../../timezone.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { type FieldErrors, fieldErrorsOf } from '../../ui/field-errors.js';
import { FailureNote } from '../../ui/states.js';
import { AmountFields, sumOf } from './amount-fields.js';
import { useWalletChanges } from './api.js';

interface CreditFormProps {
  readonly accountId: string;
  readonly currency: string;
  readonly onClose: () => void;
}

const FIELDS = ['amount', 'currency', 'description', 'priority', 'expires_at'];

/** Form to add credit to a wallet, which creates the wallet if needed. */
export function CreditDialog({ isOpen, ...form }: CreditFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog title="Add credit" isOpen={isOpen} onClose={form.onClose}>
      <CreditForm {...form} />
    </Dialog>
  );
}

interface CreditDraft {
  readonly description: string;
  readonly priority: string;
  /** Wall time in the browser's timezone. */
  readonly expires: string;
}

function CreditForm({ accountId, currency, onClose }: CreditFormProps) {
  const { credit } = useWalletChanges(accountId);
  const [sum, setSum] = useState({ amount: '', currency });
  const [draft, setDraft] = useState<CreditDraft>({ description: '', priority: '0', expires: '' });
  const { amount, currency: into } = sumOf(sum);
  const body = { amount, ...detailsOf(draft) };
  const key = useRequestKey({ into, ...body });
  const errors = fieldErrorsOf(credit.error, FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    credit.mutate({ currency: into, key, body }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <AmountFields sum={sum} errors={errors} onEdit={setSum} />
      <CreditFields draft={draft} errors={errors} onEdit={(change) => setDraft({ ...draft, ...change })} />
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={credit.isPending}>
          Add credit
        </Button>
      </DialogActions>
    </form>
  );
}

const browserZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function detailsOf({ description, priority, expires }: CreditDraft) {
  const expiresAt = instantOfText(expires, browserZone());
  return {
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(priority.trim() === '' ? {} : { priority: Number(priority) }),
  };
}

function CreditFields({
  draft,
  errors,
  onEdit,
}: {
  readonly draft: CreditDraft;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<CreditDraft>) => void;
}) {
  return (
    <>
      <Field label="Description" hint="Optional. Shown in the ledger." error={errors.at('description')}>
        {(control) => (
          <TextInput
            {...control}
            value={draft.description}
            onChange={(event) => onEdit({ description: event.target.value })}
          />
        )}
      </Field>
      <div className="grid grid-cols-[minmax(0,1fr)_7rem] items-start gap-3">
        <Field
          label="Expires"
          hint={`Optional, in ${browserZone()}. The unused amount is then removed.`}
          error={errors.at('expires_at')}
        >
          {(control) => (
            <TextInput
              {...control}
              type="datetime-local"
              value={draft.expires}
              onChange={(event) => onEdit({ expires: event.target.value })}
            />
          )}
        </Field>
        <Field label="Priority" hint="Lowest first." error={errors.at('priority')}>
          {(control) => (
            <TextInput
              {...control}
              type="number"
              value={draft.priority}
              onChange={(event) => onEdit({ priority: event.target.value })}
            />
          )}
        </Field>
      </div>
    </>
  );
}
