import type { SubjectRoute } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../../ui/dialog.js';
import { fieldErrorsOf } from '../../../ui/field-errors.js';
import { FailureNote } from '../../../ui/states.js';
import { useSaveRoute } from './api.js';
import {
  movesWindows,
  NEW_ROUTE,
  ROUTE_FIELDS,
  type RouteDraft,
  routeBodyOf,
  routeDraftOf,
} from './route-draft.js';
import { RouteFields } from './route-fields.js';

interface RouteFormProps {
  /** The route to edit; without it, the form creates one. */
  readonly route?: SubjectRoute;
  readonly onClose: () => void;
  readonly onSaved?: (route: SubjectRoute) => void;
}

/** Form to create a route, or to edit one. */
export function RouteDialog({ isOpen, ...form }: RouteFormProps & { readonly isOpen: boolean }) {
  return (
    <Dialog
      title={form.route === undefined ? 'New route' : 'Edit route'}
      description="Sets which account pays for a subject and which limits apply."
      isOpen={isOpen}
      onClose={form.onClose}
    >
      <RouteForm {...form} />
    </Dialog>
  );
}

function RouteForm({ route, onClose, onSaved }: RouteFormProps) {
  const [initial] = useState(() => (route === undefined ? NEW_ROUTE : routeDraftOf(route)));
  const [draft, setDraft] = useState<RouteDraft>(initial);
  const save = useSaveRoute(route?.id);
  const errors = fieldErrorsOf(save.error, ROUTE_FIELDS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = (saved: SubjectRoute) => {
      onClose();
      onSaved?.(saved);
    };
    save.mutate(routeBodyOf(draft), { onSuccess });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <RouteFields
        draft={draft}
        isNew={route === undefined}
        errors={errors}
        onEdit={(change) => setDraft({ ...draft, ...change })}
      />
      {route !== undefined && movesWindows(initial, draft) && (
        <p className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn">
          Windows whose start moves restart from zero. The previous windows keep their counts.
        </p>
      )}
      {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      <DialogActions>
        <CancelButton />
        <Button type="submit" look="primary" isBusy={save.isPending}>
          {route === undefined ? 'Create route' : 'Save'}
        </Button>
      </DialogActions>
    </form>
  );
}
