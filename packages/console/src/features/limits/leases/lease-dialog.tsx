import type { CreateLeaseBody } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useRequestKey } from '../../../api/use-request-key.js';
import { Button } from '../../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../../ui/dialog.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { fieldErrorsOf } from '../../../ui/field-errors.js';
import { FailureNote } from '../../../ui/states.js';
import { AmountFields, sumOf } from '../../billing/amount-fields.js';
import { METRICS_LIST, RuleSuggestions } from '../rules/suggestions.js';
import { type Subject, subjectName } from '../subjects/subject.js';
import { useOpenLease } from './api.js';

const LIFETIMES = [
  { value: '300', label: '5 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
] as const;
type Lifetime = (typeof LIFETIMES)[number]['value'];
const FIELDS = ['amount', 'currency', 'metric', 'ttl_seconds'];

interface LeaseFormProps {
  readonly subject: Subject;
  readonly onClose: () => void;
}

/** Form to reserve an amount for a subject. */
export function LeaseDialog({ isOpen, ...form }: LeaseFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog
      title="Open a budget lease"
      description={
        <>
          Reserves an amount for <bdi>{subjectName(form.subject)}</bdi> until the lease is closed or expires.
        </>
      }
      isOpen={isOpen}
      onClose={form.onClose}
    >
      <LeaseForm {...form} />
    </Dialog>
  );
}

function LeaseForm({ subject, onClose }: LeaseFormProps) {
  const open = useOpenLease();
  const [sum, setSum] = useState({ amount: '', currency: 'USD' });
  const [metric, setMetric] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>('300');
  const body: CreateLeaseBody = {
    ...{ subject_type: subject.type, subject_id: subject.id },
    ...sumOf(sum),
    ttl_seconds: Number(lifetime),
    ...(metric.trim() === '' ? {} : { metric: metric.trim() }),
  };
  const key = useRequestKey(body);
  const errors = fieldErrorsOf(open.error, FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    open.mutate({ key, body }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <RuleSuggestions />
      <AmountFields sum={sum} errors={errors} onEdit={setSum} />
      <Field
        label="Metric"
        hint="Optional. Also reserves from limits on this metric."
        error={errors.at('metric')}
      >
        {(control) => (
          <TextInput
            {...control}
            list={METRICS_LIST}
            value={metric}
            onChange={(event) => setMetric(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Expires after"
        hint="The unused amount is then released. Closing the lease releases it earlier."
        error={errors.at('ttl_seconds')}
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={LIFETIMES}
            value={lifetime}
            onChange={setLifetime}
          />
        )}
      </Field>
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={open.isPending}>
          Open lease
        </Button>
      </DialogActions>
    </form>
  );
}
