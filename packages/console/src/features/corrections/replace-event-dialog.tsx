import { useMutation } from '@tanstack/react-query';
import type { UsageEventDetail } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useRequestKey } from '../../api/use-request-key.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { FailureNote } from '../../ui/states.js';
import { JsonText } from '../rules/trial/json-input.js';
import { useEventCorrections, useRefetchUsage } from './api.js';
import { ReasonField } from './reason-field.js';
import { contentOf, type EventContent, isCompleteContent, replaceBody } from './replacement.js';

const RAW_HEIGHT_PX = 240;
const PART_HEIGHT_PX = 72;

/** Replaces the content of an event, which is edited as JSON. */
export function ReplaceEventDialog({
  detail,
  isOpen,
  onClose,
}: {
  readonly detail: UsageEventDetail;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title="Replace the event"
      description="The event is rated again with this content, by the rules that are published now for its time. The difference is posted."
      isWide
      isOpen={isOpen}
      onClose={onClose}
    >
      <ReplaceForm detail={detail} onDone={onClose} />
    </Dialog>
  );
}

function ReplaceForm({ detail, onDone }: { readonly detail: UsageEventDetail; readonly onDone: () => void }) {
  const [content, setContent] = useState(() => contentOf(detail));
  const [reason, setReason] = useState('');
  const { askToReplace, ended } = useEventCorrections();
  const refetchUsage = useRefetchUsage();
  const isComplete = isCompleteContent(content) && reason.trim() !== '';
  const body = isComplete ? replaceBody(content, reason) : '';
  const key = useRequestKey(body);
  const { raw_event_id: eventId } = detail;
  const replace = useMutation({
    mutationFn: async () => ended(eventId, await askToReplace(eventId, { body, key })),
    onSettled: refetchUsage,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    replace.mutate(undefined, { onSuccess: onDone });
  };
  const put = (change: Partial<EventContent>) => setContent({ ...content, ...change });
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <ContentFields content={content} isSubjectOpen={detail.subject_is_sent} onChange={put} />
      <ReasonField value={reason} onChange={setReason} />
      {replace.isPending && (
        <p role="status" className="text-[13px] text-ink-soft">
          The event is rated again…
        </p>
      )}
      {replace.isError && <FailureNote error={replace.error} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={replace.isPending} disabled={!isComplete}>
          Replace
        </Button>
      </DialogActions>
    </form>
  );
}

function ContentFields({
  content,
  isSubjectOpen,
  onChange,
}: {
  readonly content: EventContent;
  /** Whether the subject is shown from the start. */
  readonly isSubjectOpen: boolean;
  readonly onChange: (change: Partial<EventContent>) => void;
}) {
  return (
    <>
      <JsonText
        label="New content as JSON"
        text={content.rawJson}
        minHeight={RAW_HEIGHT_PX}
        placeholder="The raw_json of the event"
        onChange={(rawJson) => onChange({ rawJson })}
      />
      <details className="text-[13px]" open={isSubjectOpen}>
        <summary className="cursor-pointer text-ink-soft hover:text-ink">
          Subject, x-billing and metadata
        </summary>
        <div className="mt-3 grid gap-4 sm:grid-cols-2">
          <Field label="Subject type" hint="Leave both empty to let the rules find the subject.">
            {(control) => (
              <TextInput
                {...control}
                value={content.subjectType}
                onChange={({ target }) => onChange({ subjectType: target.value.trim() })}
              />
            )}
          </Field>
          <Field label="Subject ID">
            {(control) => (
              <TextInput
                {...control}
                value={content.subjectId}
                onChange={({ target }) => onChange({ subjectId: target.value.trim() })}
              />
            )}
          </Field>
          <JsonText
            label="x-billing as JSON"
            text={content.billing}
            minHeight={PART_HEIGHT_PX}
            placeholder="No x-billing"
            hint="x-billing"
            onChange={(billing) => onChange({ billing })}
          />
          <JsonText
            label="Metadata as JSON"
            text={content.metadata}
            minHeight={PART_HEIGHT_PX}
            placeholder="No metadata"
            hint="Metadata"
            onChange={(metadata) => onChange({ metadata })}
          />
        </div>
      </details>
    </>
  );
}
