import type { ComponentProps } from 'react';
import { classes } from './classes.js';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

const LOOKS: Readonly<Record<Look, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong font-medium shadow-xs',
  plain: 'border border-line-strong bg-panel hover:bg-sunken font-medium shadow-xs',
  quiet: 'text-ink-soft hover:bg-sunken hover:text-ink',
  danger: 'border border-line-strong bg-panel text-bad hover:bg-bad-soft font-medium',
};

export interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: Look;
  /** Shows that what the button began is under way; it takes no further click. */
  readonly isBusy?: boolean;
}

export function Button({
  look = 'plain',
  isBusy = false,
  className,
  disabled,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy}
      className={classes(
        'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md px-3 text-[13px] whitespace-nowrap transition-colors',
        'disabled:cursor-not-allowed disabled:opacity-55',
        LOOKS[look],
        className,
      )}
    >
      {children}
    </button>
  );
}

/** A button that shows only an icon: its name is for those who hear it, and for those who wait over it. */
export function IconButton({ label, className, ...rest }: ButtonProps & { readonly label: string }) {
  return (
    <Button
      look="quiet"
      aria-label={label}
      title={label}
      className={classes('w-8 px-0', className)}
      {...rest}
    />
  );
}
