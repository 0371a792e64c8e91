import type { SubjectRoute } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useRequestKey } from '../../../api/use-request-key.js';
import { plainNumber } from '../../../plain-number.js';
import { instantOfText } from '../../../timezone.js';
import { Button } from '../../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../../ui/dialog.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { type FieldErrors, fieldErrorsOf } from '../../../ui/field-errors.js';
import { FailureNote } from '../../../ui/states.js';
import { EVERY } from '../subjects/subject.js';
import { useLimitKeys, useRaiseLimit } from './api.js';

interface RaiseDialogProps {
  readonly route: SubjectRoute;
  readonly onClose: () => void;
}

const FIELDS = ['limit_key', 'amount', 'until', 'reason'];

/** Form to raise a limit of a route for a time. */
export function RaiseDialog({ isOpen, ...form }: RaiseDialogProps & { readonly isOpen: boolean }) {
  return (
    <Dialog title="Raise a limit" isOpen={isOpen} onClose={form.onClose}>
      {isOpen && <RaiseForm {...form} />}
    </Dialog>
  );
}

interface RaiseDraft {
  readonly limit_key: string;
  readonly amount: string;
  /** Wall time in the timezone of the route. */
  readonly until: string;
  readonly reason: string;
}

function RaiseForm({ route, onClose }: RaiseDialogProps) {
  const keys = useLimitKeys(route);
  const [draft, setDraft] = useState<RaiseDraft>({ limit_key: '', amount: '', until: '', reason: '' });
  const raise = useRaiseLimit(route.id);
  const errors = fieldErrorsOf(raise.error, FIELDS);
  const limitKey = draft.limit_key === '' ? (keys[0] ?? '') : draft.limit_key;
  const body = {
    limit_key: limitKey,
    amount: plainNumber(draft.amount),
    until: instantOfText(draft.until, route.timezone) ?? 0,
    reason: draft.reason.trim(),
  };
  const key = useRequestKey(body);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    raise.mutate({ key, body }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <p className="text-[13px] text-ink-soft">
        The raise applies at once, also in the current window, and ends by itself.
        {route.subject_id === EVERY && ' It applies to each subject of this route.'}
      </p>
      <Field label="Limit" error={errors.at('limit_key')}>
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={keys.map((value) => ({ value, label: value }))}
            value={limitKey}
            onChange={(limit_key) => setDraft({ ...draft, limit_key })}
          />
        )}
      </Field>
      <RaiseFields
        draft={draft}
        errors={errors}
        timezone={route.timezone}
        onEdit={(change) => setDraft({ ...draft, ...change })}
      />
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={raise.isPending} disabled={keys.length === 0}>
          Raise limit
        </Button>
      </DialogActions>
    </form>
  );
}

function RaiseFields({
  draft,
  errors,
  timezone,
  onEdit,
}: {
  readonly draft: RaiseDraft;
  readonly errors: FieldErrors;
  readonly timezone: string;
  readonly onEdit: (change: Partial<RaiseDraft>) => void;
}) {
  return (
    <>
      <div className="grid grid-cols-2 items-start gap-3">
        <Field label="Raise by" hint="Added to the limit." error={errors.at('amount')}>
          {(control) => (
            <TextInput
              {...control}
              inputMode="decimal"
              required
              value={draft.amount}
              onChange={(event) => onEdit({ amount: event.target.value })}
            />
          )}
        </Field>
        <Field label="Until" hint={`In ${timezone}.`} error={errors.at('until')}>
          {(control) => (
            <TextInput
              {...control}
              type="datetime-local"
              required
              value={draft.until}
              onChange={(event) => onEdit({ until: event.target.value })}
            />
          )}
        </Field>
      </div>
      <Field label="Reason" hint="The audit log shows it." error={errors.at('reason')}>
        {(control) => (
          <TextInput
            {...control}
            required
            value={draft.reason}
            onChange={(event) => onEdit({ reason: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}
