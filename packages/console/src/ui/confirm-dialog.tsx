import type { ReactNode } from 'react';
import { Button } from './button.js';
import { CancelButton, Dialog, DialogActions } from './dialog.js';
import { FailureNote } from './states.js';

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog({
  title,
  action,
  change,
  isOpen,
  onClose,
  onConfirm,
  children,
}: {
  readonly title: ReactNode;
  readonly action: string;
  /** The state of the confirmed action. */
  readonly change: { readonly isPending: boolean; readonly isError: boolean; readonly error: unknown };
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  readonly children: ReactNode;
}) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <div className="text-[13px] text-ink-soft">{children}</div>
      {change.isError && (
        <div className="mt-4">
          <FailureNote error={change.error} />
        </div>
      )}
      <DialogActions>
        <CancelButton />
        <Button look="danger" isBusy={change.isPending} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
