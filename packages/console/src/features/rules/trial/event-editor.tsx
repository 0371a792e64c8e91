import type { UsageEvent } from '@tollgate/contract';
import { dateTime } from '../../../format.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { FailureNote } from '../../../ui/states.js';
import { useReadEvent } from './api.js';
import { JsonText } from './json-input.js';
import type { EventDraft } from './trial-request.js';

const RAW_HEIGHT_PX = 320;
const BILLING_HEIGHT_PX = 96;

/** An event as it is written down: pasted, or one that was received. */
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
        placeholder="Paste what a client sends as raw_json"
        onChange={(rawJson) => onChange({ ...event, rawJson })}
      />
      <details className="group text-[13px]">
        <summary className="cursor-pointer text-ink-soft hover:text-ink">
          What comes with it: subject, x-billing
        </summary>
        <div className="mt-3 grid gap-4 sm:grid-cols-2">
          <Field label="Subject type" hint="Together with the id; they go before what the rules find.">
            {(control) => (
              <TextInput
                {...control}
                value={event.subjectType}
                onChange={({ target }) => onChange({ ...event, subjectType: target.value.trim() })}
              />
            )}
          </Field>
          <Field label="Subject id">
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
        aria-label="Take an event that was received"
        className="max-w-64 min-w-0"
        options={[{ value: '', label: 'Take a received event' }, ...options]}
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

/** A received event as text again. */
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
