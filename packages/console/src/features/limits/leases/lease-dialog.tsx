import type { CreatedBudgetLease } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useRequestKey } from '../../../api/use-request-key.js';
import { Button } from '../../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../../ui/dialog.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { type FieldErrors, fieldErrorsOf } from '../../../ui/field-errors.js';
import { RuleSuggestions } from '../rules/suggestions.js';
import type { Subject } from '../subjects/subject.js';
import { useOpenLease } from './api.js';
import { HoldFields } from './hold-fields.js';
import {
  type LeaseDraft,
  leaseFieldPaths,
  leaseRequest,
  newLease,
  repeatedDimension,
} from './lease-draft.js';
import { ParentField } from './parent-field.js';
import { RefusedNote } from './refused-note.js';
import { WorkFields } from './work-fields.js';

const LIFETIMES = [
  { value: '300', label: '5 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
];

interface LeaseFormProps {
  readonly subject: Subject;
  /** The lease to take a part of. */
  readonly parentId?: string;
  readonly onClose: () => void;
  readonly onOpened?: (lease: CreatedBudgetLease) => void;
}

/** Form to reserve amounts and quantities for a subject, in its limits and wallets, or in another lease. */
export function LeaseDialog({ isOpen, ...form }: LeaseFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog
      title={form.parentId === undefined ? 'Open a budget lease' : 'Open a part of the lease'}
      description={
        form.parentId === undefined
          ? 'Reserves amounts and quantities for a subject until the lease is closed or expires.'
          : 'Takes amounts and quantities from the lease, and gives back what is unused. The part ends with the lease at the latest.'
      }
      isOpen={isOpen}
      onClose={form.onClose}
    >
      <LeaseForm {...form} />
    </Dialog>
  );
}

function LeaseForm({ subject, parentId, onClose, onOpened }: LeaseFormProps) {
  const open = useOpenLease();
  const [draft, setDraft] = useState(() => newLease(subject, parentId));
  const body = leaseRequest(draft);
  const key = useRequestKey(body);
  const errors = fieldErrorsOf(open.error, leaseFieldPaths(draft));
  const onEdit = (change: Partial<LeaseDraft>) => setDraft({ ...draft, ...change });
  const isPart = parentId !== undefined;
  const parent = <ParentField draft={draft} errors={errors} onEdit={onEdit} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (repeatedDimension(draft.dimensions) !== undefined) return;
    open.mutate(
      { key, body },
      {
        onSuccess: (lease) => {
          onClose();
          onOpened?.(lease);
        },
      },
    );
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <RuleSuggestions />
      <SubjectFields
        subject={draft.subject}
        errors={errors}
        onEdit={(changed) => onEdit({ subject: changed })}
      />
      {isPart && parent}
      <HoldFields holds={draft.holds} errors={errors} onChange={(holds) => onEdit({ holds })} />
      <WorkFields draft={draft} errors={errors} onEdit={onEdit} />
      {!isPart && parent}
      <Field
        label="Expires after"
        hint="The unused rest is then released. Closing the lease releases it earlier."
        error={errors.at('ttl_seconds')}
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={LIFETIMES}
            value={draft.ttlSeconds}
            onChange={(ttlSeconds) => onEdit({ ttlSeconds })}
          />
        )}
      </Field>
      {errors.rest !== undefined && <RefusedNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={open.isPending}>
          {isPart ? 'Open part' : 'Open lease'}
        </Button>
      </DialogActions>
    </form>
  );
}

function SubjectFields({
  subject,
  errors,
  onEdit,
}: {
  readonly subject: Subject;
  readonly errors: FieldErrors;
  readonly onEdit: (subject: Subject) => void;
}) {
  return (
    <div className="grid grid-cols-2 items-start gap-3">
      <Field label="Subject type" error={errors.at('subject_type')}>
        {(control) => (
          <TextInput
            {...control}
            required
            value={subject.type}
            onChange={(event) => onEdit({ ...subject, type: event.target.value })}
          />
        )}
      </Field>
      <Field label="Subject ID" error={errors.at('subject_id')}>
        {(control) => (
          <TextInput
            {...control}
            required
            value={subject.id}
            onChange={(event) => onEdit({ ...subject, id: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}
