import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { IconButton } from './button.js';
import { classes } from './classes.js';

export interface DialogProps {
  readonly title: string;
  readonly description?: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** It holds work that is not saved: a click beside it does not close it. */
  readonly isDirty?: boolean;
  readonly children: ReactNode;
}

export function Dialog({
  title,
  description,
  isOpen,
  onClose,
  isWide = false,
  isDirty = false,
  children,
}: DialogProps) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40 backdrop-blur-[1px]" />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          onInteractOutside={(event) => isDirty && event.preventDefault()}
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
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The last row of a dialog: what it is for, and the way out. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className="mt-6 flex flex-wrap justify-end gap-2">{children}</div>;
}
