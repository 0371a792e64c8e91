import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from './button.js';
import { classes } from './classes.js';
import { DIMMED } from './dialog-loading.js';

export interface DialogProps {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /**
   * Whether closing would lose something. Clicks outside then do not close the dialog, and every other way of
   * closing asks for confirmation. By default this is true after any input in the dialog.
   */
  readonly isDirty?: boolean | undefined;
  /** A sentence about the loss, shown before closing. */
  readonly loss?: string | undefined;
  readonly children: ReactNode;
}

export function Dialog({
  title,
  description,
  isOpen,
  onClose,
  isWide = false,
  isDirty,
  loss = 'Your changes are not saved yet.',
  children,
}: DialogProps) {
  const [isTouched, setTouched] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  if (!isOpen && (isTouched || isLeaving)) {
    setTouched(false);
    setLeaving(false);
  }
  const isBlocked = isDirty ?? isTouched;
  const leave = () => (isBlocked ? setLeaving(true) : onClose());
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => open || leave()}>
      <Radix.Portal>
        <Radix.Overlay className={DIMMED} />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          onInteractOutside={(event) => isBlocked && event.preventDefault()}
          onInput={() => setTouched(true)}
          onClick={({ target }) => isSwitch(target) && setTouched(true)}
          className={classes(
            'fixed top-[8vh] left-1/2 z-50 flex max-h-[84vh] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-xl border border-line bg-panel shadow-xl',
            isWide ? 'max-w-5xl' : 'max-w-lg',
          )}
        >
          <header className="flex items-start gap-4 border-b border-line px-5 py-3.5">
            <div className="min-w-0 grow">
              <Radix.Title className="text-base font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-0.5 text-[13px] text-ink-soft">
                  {description}
                </Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" className="-mr-2">
                <X size={16} />
              </IconButton>
            </Radix.Close>
          </header>
          <div className="overflow-y-auto p-5">{children}</div>
          {isLeaving && (
            <LeaveDialog title="Close without saving?" onStay={() => setLeaving(false)} onLeave={onClose}>
              {loss}
            </LeaveDialog>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function isSwitch(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[aria-pressed]') !== null;
}

/** Asks for confirmation before unsaved changes are lost. */
export function LeaveDialog({
  title,
  onStay,
  onLeave,
  children,
}: {
  readonly title: string;
  readonly onStay: () => void;
  readonly onLeave: () => void;
  readonly children: string;
}) {
  return (
    <Dialog title={title} isOpen onClose={onStay}>
      <p className="text-[13px] text-ink-soft">{children}</p>
      <DialogActions>
        <Button look="primary" onClick={onStay}>
          Stay
        </Button>
        <Button look="danger" onClick={onLeave}>
          Leave
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Closes the dialog, as its close button and Escape do. */
export function CancelButton() {
  return (
    <Radix.Close asChild>
      <Button>Cancel</Button>
    </Radix.Close>
  );
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2">{children}</div>;
}
