import type { ComponentProps } from 'react';
import { classes } from './classes.js';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

const LOOKS: Readonly<Record<Look, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong font-medium shadow-xs',
  plain: 'border border-line-strong bg-panel hover:bg-sunken font-medium shadow-xs',
  quiet: 'text-ink-soft hover:bg-sunken hover:text-ink',
  danger: 'border border-line-strong bg-panel text-bad hover:bg-bad-soft font-medium',
};

/** Height and padding: of a normal control, of one within text, or of an icon. */
type Size = 'normal' | 'small' | 'icon';

const SIZES: Readonly<Record<Size, string>> = {
  normal: 'h-8 px-3 text-[13px]',
  small: 'h-7 px-2 text-xs',
  icon: 'size-8',
};

export interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: Look;
  readonly size?: Size;
  /** Disables the button while its action is in progress. */
  readonly isBusy?: boolean;
}

export function Button({
  look = 'plain',
  size = 'normal',
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
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md whitespace-nowrap transition-colors',
        'disabled:cursor-not-allowed disabled:opacity-55',
        SIZES[size],
        LOOKS[look],
        className,
      )}
    >
      {children}
    </button>
  );
}

/** A button with an icon only. Its label is the accessible name and the tooltip. */
export function IconButton({ label, ...rest }: ButtonProps & { readonly label: string }) {
  return <Button look="quiet" size="icon" aria-label={label} title={label} {...rest} />;
}
