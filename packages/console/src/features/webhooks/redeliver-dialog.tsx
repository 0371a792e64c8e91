import { useMutation, useQuery } from '@tanstack/react-query';
import type { WebhookDelivery } from '@tollgate/contract';
import { useState } from 'react';
import { nowS } from '../../clock.js';
import { count } from '../../format.js';
import { useProjectClient } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select } from '../../ui/field.js';
import { FailureNote, ReadFailure } from '../../ui/states.js';
import { useEndpointChanges } from './api.js';
import { REDELIVERED_MAX, undeliveredSince } from './redeliver.js';

const SINCE = [
  { value: '3600', label: 'The last hour' },
  { value: '86400', label: 'The last 24 hours' },
  { value: '604800', label: 'The last 7 days' },
  { value: '2592000', label: 'The last 30 days' },
] as const;

/** Redelivers all failed and cancelled messages since a time, after showing their number. */
export function RedeliverDialog(props: {
  readonly endpointId: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title="Redeliver failed messages"
      description="Each message is sent again with the same ID and a full set of retries."
      isOpen={props.isOpen}
      onClose={props.onClose}
      isDirty={false}
    >
      <RedeliverForm {...props} />
    </Dialog>
  );
}

function RedeliverForm({
  endpointId,
  onClose,
}: {
  readonly endpointId: string;
  readonly onClose: () => void;
}) {
  const project = useProjectClient();
  const [since, setSince] = useState<(typeof SINCE)[number]['value']>('86400');
  const undelivered = useQuery({
    queryKey: ['webhooks', project.projectId, endpointId, 'undelivered', since],
    queryFn: () => undeliveredSince(project, endpointId, nowS() - Number(since)),
    staleTime: 0,
  });
  const [done, setDone] = useState(0);
  const { redeliver } = useEndpointChanges();
  const all = useMutation({
    mutationFn: async (deliveries: readonly WebhookDelivery[]) => {
      for (const [index, delivery] of deliveries.entries()) {
        await redeliver.mutateAsync(delivery);
        setDone(index + 1);
      }
    },
    onSuccess: onClose,
  });
  const found = undelivered.data?.length ?? 0;
  return (
    <>
      <Field
        label="Time range"
        hint={
          all.isPending
            ? `${count(done)} of ${count(found)} queued.`
            : foundText(undelivered.isPending, found)
        }
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={SINCE}
            disabled={all.isPending}
            value={since}
            onChange={setSince}
          />
        )}
      </Field>
      {undelivered.isError && <ReadFailure of={undelivered} />}
      {all.isError && <FailureNote error={all.error} />}
      <DialogActions>
        <CancelButton />
        <Button
          look="primary"
          isBusy={all.isPending || undelivered.isFetching}
          disabled={found === 0}
          onClick={() => undelivered.data && all.mutate(undelivered.data)}
        >
          {found === 0 ? 'Redeliver' : `Redeliver ${count(found)}`}
        </Button>
      </DialogActions>
    </>
  );
}

function foundText(isPending: boolean, found: number): string {
  if (isPending) return 'Counting…';
  if (found === 0) return 'No failed or cancelled messages in this time.';
  if (found === REDELIVERED_MAX) return `The newest ${count(found)} failed or cancelled messages.`;
  return `${count(found)} failed or cancelled ${found === 1 ? 'message' : 'messages'}.`;
}
