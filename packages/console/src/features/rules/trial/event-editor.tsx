import type { UsageEvent } from '@tollgate/contract';
import { dateTime } from '../../../format.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { FailureNote } from '../../../ui/states.js';
import { useReadEvent } from './api.js';
import { JsonText } from './json-input.js';
import type { EventDraft } from './trial-request.js';

const RAW_HEIGHT_PX = 320;
const BILLING_HEIGHT_PX = 96;

/** Editor for the test event, which is pasted or taken from received events. */
export function EventEditor({
  event,
  onChange,
  recent,
}: {
  readonly event: EventDraft;
  readonly onChange: (event: EventDraft) => void;
  readonly recent: readonly UsageEvent[];
}) {
  return (
    <section aria-label="Event" className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h3 className="mr-auto text-[13px] font-semibold">Event</h3>
        {recent.length > 0 && <RecentEvents recent={recent} onChoose={onChange} />}
      </div>
      <JsonText
        label="Event as JSON"
        text={event.rawJson}
        minHeight={RAW_HEIGHT_PX}
        placeholder="Paste the raw_json of an event"
        onChange={(rawJson) => onChange({ ...event, rawJson })}
      />
      <details className="group text-[13px]">
        <summary className="cursor-pointer text-ink-soft hover:text-ink">
          Subject and x-billing (optional)
        </summary>
        <div className="mt-3 grid gap-4 sm:grid-cols-2">
          <Field label="Subject type" hint="Used with the ID. Overrides the subject that the rules extract.">
            {(control) => (
              <TextInput
                {...control}
                value={event.subjectType}
                onChange={({ target }) => onChange({ ...event, subjectType: target.value.trim() })}
              />
            )}
          </Field>
          <Field label="Subject ID">
            {(control) => (
              <TextInput
                {...control}
                value={event.subjectId}
                onChange={({ target }) => onChange({ ...event, subjectId: target.value.trim() })}
              />
            )}
          </Field>
          <div className="sm:col-span-2">
            <JsonText
              label="x-billing as JSON"
              text={event.billing}
              minHeight={BILLING_HEIGHT_PX}
              placeholder='Optional: {"pricing_hints": {…}}'
              onChange={(billing) => onChange({ ...event, billing })}
            />
          </div>
        </div>
      </details>
    </section>
  );
}

function RecentEvents({
  recent,
  onChoose,
}: {
  readonly recent: readonly UsageEvent[];
  readonly onChoose: (event: EventDraft) => void;
}) {
  const read = useReadEvent();
  const choose = (id: string) => {
    if (id === '') return;
    read.mutate(id, { onSuccess: (detail) => onChoose(eventDraft(detail)) });
  };
  const options = recent.map((event) => ({ value: event.raw_event_id, label: nameOf(event) }));
  return (
    <>
      <Select
        aria-label="Received events"
        className="max-w-64 min-w-0"
        options={[{ value: '', label: 'Use a received event' }, ...options]}
        value={read.variables ?? ''}
        onChange={choose}
      />
      {read.isError && <FailureNote error={read.error} />}
    </>
  );
}

function nameOf({ occurred_at, subject_type, subject_id, status }: UsageEvent): string {
  const who = subject_id === null ? '' : ` · ${subject_type}/${subject_id}`;
  return `${dateTime(occurred_at, 'UTC')} UTC${who}${status === 'failed' ? ' · failed' : ''}`;
}

/** Converts a received event to text. */
export function eventDraft(detail: {
  readonly raw_json: unknown;
  readonly 'x-billing': unknown;
}): EventDraft {
  const billing = detail['x-billing'];
  return {
    rawJson: JSON.stringify(detail.raw_json, null, 2),
    billing: billing === null ? '' : JSON.stringify(billing, null, 2),
    subjectType: '',
    subjectId: '',
  };
}
