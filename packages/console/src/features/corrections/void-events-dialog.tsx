import { useMutation } from '@tanstack/react-query';
import { ApiError } from '@tollgate/sdk/browser';
import { type FormEvent, useState } from 'react';
import { newIdempotencyKey } from '../../api/idempotency-key.js';
import { count } from '../../format.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { ShareBar } from '../../ui/share-bar.js';
import { FailureNote } from '../../ui/states.js';
import { useEventCorrections, useRefetchUsage } from './api.js';
import { ReasonField } from './reason-field.js';

/** Voids events one by one, each with a correction of its own, and shows how many are done. */
export function VoidEventsDialog({
  eventIds,
  isOpen,
  onClose,
  onDone,
}: {
  readonly eventIds: readonly string[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Called when all events are voided. */
  readonly onDone: () => void;
}) {
  return (
    <Dialog
      title={eventIds.length === 1 ? 'Void the event' : 'Void events'}
      isOpen={isOpen}
      onClose={onClose}
    >
      <VoidForm eventIds={eventIds} onDone={onDone} />
    </Dialog>
  );
}

function VoidForm({
  eventIds,
  onDone,
}: {
  readonly eventIds: readonly string[];
  readonly onDone: () => void;
}) {
  const [reason, setReason] = useState('');
  const { voidAll, done } = useVoiding(eventIds, reason);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    voidAll.mutate(undefined, { onSuccess: onDone });
  };
  const number = eventIds.length;
  const noun = number === 1 ? 'event' : 'events';
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <p className="text-[13px] text-ink-soft">
        {number === 1 ? 'The event no longer counts' : `${count(number)} events no longer count`} in limits,
        charts and totals, and {number === 1 ? 'its amount returns' : 'their amounts return'} to the account
        that was debited. {number === 1 ? 'The event stays' : 'The events stay'} readable, with the history.
        You can revert this later.
      </p>
      <ReasonField value={reason} onChange={setReason} />
      {number > 1 && !voidAll.isIdle && (
        <div>
          <p role="status" className="tabular text-[13px]">
            {count(done)} of {count(number)} voided.
          </p>
          <ShareBar share={done / number} className="mt-2" />
        </div>
      )}
      {voidAll.isError && <FailureNote error={voidAll.error} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="danger" isBusy={voidAll.isPending} disabled={reason.trim() === ''}>
          {voidAll.isError ? 'Try again' : `Void ${count(number)} ${noun}`}
        </Button>
      </DialogActions>
    </form>
  );
}

/**
 * Asks for all corrections first, then waits until each is in force. A repetition after an error goes on with the
 * same keys, so that no event is voided twice; only an event whose correction has failed gets a new one.
 */
function useVoiding(eventIds: readonly string[], reason: string) {
  const { askToVoid, ended } = useEventCorrections();
  const refetchUsage = useRefetchUsage();
  const [keys] = useState(() => new Map<string, string>());
  const [done, setDone] = useState(0);
  const nameOf = (eventId: string) => JSON.stringify([eventId, reason]);
  const keyOf = (eventId: string): string => {
    const key = keys.get(nameOf(eventId)) ?? newIdempotencyKey();
    keys.set(nameOf(eventId), key);
    return key;
  };
  const voidAll = useMutation({
    mutationFn: async () => {
      setDone(0);
      const asked: (readonly [eventId: string, correctionId: string])[] = [];
      const refused: string[] = [];
      for (const eventId of eventIds) {
        try {
          asked.push([eventId, await askToVoid(eventId, { body: reason, key: keyOf(eventId) })]);
        } catch (error) {
          if (!(error instanceof ApiError) || error.isTransient) throw error;
          refused.push(error.message);
        }
      }
      for (const [index, [eventId, correctionId]] of asked.entries()) {
        await ended(eventId, correctionId).catch((error: unknown) => {
          // The same key would return the correction that has failed.
          keys.delete(nameOf(eventId));
          throw error;
        });
        setDone(index + 1);
      }
      const [first] = refused;
      if (first !== undefined) {
        const number = `${count(refused.length)} ${refused.length === 1 ? 'event' : 'events'}`;
        throw new Error(`${number} could not be voided: ${first}`);
      }
    },
    onSettled: refetchUsage,
  });
  return { voidAll, done };
}
