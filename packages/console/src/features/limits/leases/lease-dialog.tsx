import type { CreateLeaseBody } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useRequestKey } from '../../../api/use-request-key.js';
import { Button } from '../../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../../ui/dialog.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { fieldErrorsOf } from '../../../ui/field-errors.js';
import { FailureNote } from '../../../ui/states.js';
import { AmountFields, sumOf } from '../../money/amount-fields.js';
import { METRICS_LIST, RuleSuggestions } from '../rules/suggestions.js';
import { type Subject, subjectName } from '../subjects/subject.js';
import { useOpenLease } from './api.js';

const LIVES = [
  { value: '300', label: '5 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
] as const;
type Life = (typeof LIVES)[number]['value'];
const FIELDS = ['amount', 'currency', 'metric', 'ttl_seconds'];

interface LeaseFormProps {
  readonly subject: Subject;
  readonly onClose: () => void;
}

/** Reserves an amount for a subject's work by hand. */
export function LeaseDialog({ isOpen, ...form }: LeaseFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog
      title="Open a lease"
      description={
        <>
          Reserves an amount for <bdi>{subjectName(form.subject)}</bdi>, so that nobody else uses it
          meanwhile.
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
  const [life, setLife] = useState<Life>('300');
  const body: CreateLeaseBody = {
    ...{ subject_type: subject.type, subject_id: subject.id },
    ...sumOf(sum),
    ttl_seconds: Number(life),
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
        hint="Optional; reserves of limits on this metric, too."
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
        label="Ends after"
        hint="What is left then is given back, unless the lease is closed before."
        error={errors.at('ttl_seconds')}
      >
        {(control) => (
          <Select {...control} className="w-full" options={LIVES} value={life} onChange={setLife} />
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
