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
   * It holds what would be lost: a click beside it does not close it, and every other way out asks first. By
   * default that is so once something in it was entered or switched.
   */
  readonly isDirty?: boolean | undefined;
  /** What is lost then. */
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
  loss = 'What was entered here is not saved yet.',
  children,
}: DialogProps) {
  const [isTouched, setTouched] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  if (!isOpen && (isTouched || isLeaving)) {
    setTouched(false);
    setLeaving(false);
  }
  const isHeld = isDirty ?? isTouched;
  const leave = () => (isHeld ? setLeaving(true) : onClose());
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => open || leave()}>
      <Radix.Portal>
        <Radix.Overlay className={DIMMED} />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          onInteractOutside={(event) => isHeld && event.preventDefault()}
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

/** Asks before what is not saved is left behind. */
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

/** The way out of a dialog that its cross and Escape are, too. */
export function CancelButton() {
  return (
    <Radix.Close asChild>
      <Button>Cancel</Button>
    </Radix.Close>
  );
}

/** The last row of a dialog: what it is for, and the way out. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2">{children}</div>;
}
