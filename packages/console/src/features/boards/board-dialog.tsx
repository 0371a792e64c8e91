import {
  BOARD_DESCRIPTION_CHARS_MAX,
  BOARD_NAME_CHARS_MAX,
  BOARD_TIME_RANGE_DEFAULT_S,
  BOARD_TIME_RANGES_S,
  type Board,
  type BoardTimeRange,
} from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { Field, Select, TextArea, TextInput } from '../../ui/field.js';
import { type FieldErrors, fieldErrorsOf } from '../../ui/field-errors.js';
import { FailureNote } from '../../ui/states.js';
import { timezoneOptions } from '../../ui/timezone-options.js';
import { useBoardChanges } from './api.js';
import { PRESETS } from './time-range.js';

const RANGE_OPTIONS = PRESETS.map(({ seconds, label }) => ({ value: String(seconds), label }));

const FIELDS = ['name', 'description', 'timezone'];

/** Form to create a board, or to edit `board`. */
export function BoardDialog({
  board,
  isOpen,
  onClose,
  onSaved,
}: {
  readonly board?: Board;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSaved?: (board: Board) => void;
}) {
  return (
    <Dialog title={board === undefined ? 'New board' : 'Edit board'} isOpen={isOpen} onClose={onClose}>
      <BoardForm
        {...(board === undefined ? {} : { board })}
        onSaved={(saved) => {
          onSaved?.(saved);
          onClose();
        }}
      />
    </Dialog>
  );
}

interface BoardDraft {
  readonly name: string;
  readonly description: string;
  readonly timezone: string;
  readonly range: BoardTimeRange;
}

function draftOf(board: Board | undefined): BoardDraft {
  return {
    name: board?.name ?? '',
    description: board?.description ?? '',
    timezone: board?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    range: board?.default_time_range_seconds ?? BOARD_TIME_RANGE_DEFAULT_S,
  };
}

function BoardForm({ board, onSaved }: { readonly board?: Board; readonly onSaved: (board: Board) => void }) {
  const changes = useBoardChanges();
  const [draft, setDraft] = useState(() => draftOf(board));
  const saving = board === undefined ? changes.create : changes.update;
  const errors = fieldErrorsOf(saving.error, FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { name, description, timezone, range } = draft;
    const body = { name: name.trim(), description, timezone, default_time_range_seconds: range };
    if (board === undefined) changes.create.mutate(body, { onSuccess: onSaved });
    else changes.update.mutate({ id: board.report_id, body }, { onSuccess: onSaved });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <BoardFields draft={draft} errors={errors} onEdit={(change) => setDraft({ ...draft, ...change })} />
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={saving.isPending}>
          {board === undefined ? 'Create board' : 'Save'}
        </Button>
      </DialogActions>
    </form>
  );
}

function BoardFields({
  draft: { name, description, timezone, range },
  errors,
  onEdit,
}: {
  readonly draft: BoardDraft;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<BoardDraft>) => void;
}) {
  return (
    <>
      <Field label="Name" error={errors.at('name')}>
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            maxLength={BOARD_NAME_CHARS_MAX}
            value={name}
            onChange={(event) => onEdit({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Description" error={errors.at('description')} hint="Optional.">
        {(control) => (
          <TextArea
            {...control}
            maxLength={BOARD_DESCRIPTION_CHARS_MAX}
            value={description}
            onChange={(event) => onEdit({ description: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Timezone" error={errors.at('timezone')} hint="Days start at midnight here.">
          {(control) => (
            <Select
              {...control}
              className="w-full"
              value={timezone}
              onChange={(chosen) => onEdit({ timezone: chosen })}
              options={timezoneOptions(timezone)}
            />
          )}
        </Field>
        <Field label="Default time range">
          {(control) => (
            <Select
              {...control}
              className="w-full"
              value={String(range)}
              onChange={(value) =>
                onEdit({ range: BOARD_TIME_RANGES_S.find((seconds) => String(seconds) === value) ?? range })
              }
              options={RANGE_OPTIONS}
            />
          )}
        </Field>
      </div>
    </>
  );
}
