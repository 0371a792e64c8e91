import {
  WEBHOOK_DESCRIPTION_CHARS_MAX,
  WEBHOOK_EVERY_EVENT,
  WEBHOOK_OWN_EVENTS,
  WEBHOOK_URL_CHARS_MAX,
  type WebhookEndpoint,
  type WebhookEndpointInput,
  type WebhookEndpointWithSecret,
} from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.js';
import { Choices } from '../../ui/choices.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select, TextInput } from '../../ui/field.js';
import { type FieldErrors, fieldErrorsOf } from '../../ui/field-errors.js';
import { ShownOnce } from '../../ui/shown-once.js';
import { FailureNote } from '../../ui/states.js';
import { useEndpointChanges } from './api.js';

/** The standard events of the service; limit rules can add custom ones. */
const OWN_EVENTS: readonly string[] = WEBHOOK_OWN_EVENTS;
const WANTED = [
  { value: 'every', label: 'All events' },
  { value: 'some', label: 'Selected events' },
] as const;
const FIELDS = ['url', 'event_types', 'description'];

interface Draft {
  readonly url: string;
  readonly wanted: (typeof WANTED)[number]['value'];
  readonly own: readonly string[];
  /** Custom event names of limit rules, separated by commas or spaces. */
  readonly others: string;
  readonly description: string;
}

function draftOf(endpoint?: WebhookEndpoint): Draft {
  const types = endpoint?.event_types ?? [WEBHOOK_EVERY_EVENT];
  const isEvery = types.includes(WEBHOOK_EVERY_EVENT);
  return {
    url: endpoint?.url ?? '',
    wanted: isEvery ? 'every' : 'some',
    own: isEvery ? OWN_EVENTS : OWN_EVENTS.filter((type) => types.includes(type)),
    others: isEvery ? '' : types.filter((type) => !OWN_EVENTS.includes(type)).join(', '),
    description: endpoint?.description ?? '',
  };
}

function inputOf({ url, wanted, own, others, description }: Draft): WebhookEndpointInput {
  const named = [...own, ...others.split(/[\s,]+/).filter((name) => name !== '')];
  return {
    url: url.trim(),
    event_types: wanted === 'every' ? [WEBHOOK_EVERY_EVENT] : [...new Set(named)],
    ...(description.trim() === '' ? {} : { description: description.trim() }),
  };
}

/** Form to create an endpoint, whose secret it then shows once, or to edit one. */
export function EndpointDialog({
  endpoint,
  isOpen,
  onClose,
  onCreated,
}: {
  readonly endpoint?: WebhookEndpoint;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onCreated?: (endpoint: WebhookEndpoint) => void;
}) {
  const [created, setCreated] = useState<WebhookEndpointWithSecret>();
  const close = () => {
    onClose();
    setCreated(undefined);
    if (created !== undefined) onCreated?.(created);
  };
  const title = endpoint === undefined ? 'New endpoint' : 'Edit endpoint';
  return (
    <Dialog
      title={created === undefined ? title : 'Copy the secret now'}
      isOpen={isOpen}
      isDirty={created === undefined ? undefined : true}
      loss={created === undefined ? undefined : SECRET_LOSS}
      onClose={close}
    >
      {created === undefined ? (
        <EndpointForm
          {...(endpoint === undefined ? {} : { endpoint })}
          onClose={close}
          onCreated={setCreated}
        />
      ) : (
        <SecretShown secret={created.secret} onClose={close} />
      )}
    </Dialog>
  );
}

/** Warning before a dialog that shows a secret is closed. */
export const SECRET_LOSS = 'The secret is shown only once. You cannot view it again.';

export function SecretShown({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <>
      <ShownOnce secret={secret}>
        Your server verifies messages with this secret. It is shown only once, but you can rotate it at any
        time.
      </ShownOnce>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

function EndpointForm({
  endpoint,
  onClose,
  onCreated,
}: {
  readonly endpoint?: WebhookEndpoint;
  readonly onClose: () => void;
  readonly onCreated: (created: WebhookEndpointWithSecret) => void;
}) {
  const changes = useEndpointChanges();
  const [draft, setDraft] = useState(() => draftOf(endpoint));
  const saving = endpoint === undefined ? changes.create : changes.update;
  const body = inputOf(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (endpoint === undefined) changes.create.mutate(body, { onSuccess: onCreated });
    else changes.update.mutate({ id: endpoint.id, body }, { onSuccess: onClose });
  };
  const errors = fieldErrorsOf(saving.error, FIELDS);
  const edit = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <AddressFields draft={draft} errors={errors} onEdit={edit} />
      <EventFields draft={draft} error={errors.at('event_types')} onEdit={edit} />
      {endpoint?.status === 'disabled' && (
        <p className="text-[13px] text-ink-soft">Saving enables the endpoint again.</p>
      )}
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button
          type="submit"
          look="primary"
          isBusy={saving.isPending}
          disabled={body.event_types.length === 0}
        >
          {endpoint === undefined ? 'Create endpoint' : 'Save'}
        </Button>
      </DialogActions>
    </form>
  );
}

function AddressFields({
  draft,
  errors,
  onEdit,
}: {
  readonly draft: Draft;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  return (
    <>
      <Field
        label="URL"
        error={errors.at('url')}
        hint="Messages are sent to this URL. It must be reachable from the internet."
      >
        {(control) => (
          <TextInput
            {...control}
            type="url"
            required
            autoFocus
            maxLength={WEBHOOK_URL_CHARS_MAX}
            placeholder="https://hooks.example.com/tollgate"
            value={draft.url}
            onChange={(event) => onEdit({ url: event.target.value })}
          />
        )}
      </Field>
      <Field
        label="Description"
        error={errors.at('description')}
        hint="Optional, for example who receives the messages."
      >
        {(control) => (
          <TextInput
            {...control}
            maxLength={WEBHOOK_DESCRIPTION_CHARS_MAX}
            value={draft.description}
            onChange={(event) => onEdit({ description: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function EventFields({
  draft,
  error,
  onEdit,
}: {
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  return (
    <>
      <Field label="Events" error={draft.wanted === 'every' ? error : undefined}>
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={WANTED}
            value={draft.wanted}
            onChange={(wanted) => onEdit({ wanted })}
          />
        )}
      </Field>
      {draft.wanted === 'some' && (
        <>
          <Choices
            label="Standard events"
            names={OWN_EVENTS}
            chosen={draft.own}
            max={OWN_EVENTS.length}
            onChange={(own) => onEdit({ own })}
          />
          <Field
            label="Custom events"
            error={error}
            hint="Webhook event names of limit rules, separated by commas."
          >
            {(control) => (
              <TextInput
                {...control}
                spellCheck={false}
                value={draft.others}
                onChange={(event) => onEdit({ others: event.target.value })}
              />
            )}
          </Field>
        </>
      )}
    </>
  );
}
