import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.js';

/** A toggle button for one of a few choices. */
export function Chip({
  label,
  isChosen,
  isDisabled = false,
  onToggle,
  children,
}: {
  /** Accessible name, if the visible text is not enough. */
  readonly label?: string;
  readonly isChosen: boolean;
  readonly isDisabled?: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      aria-pressed={isChosen}
      disabled={isDisabled}
      onClick={onToggle}
      className={classes(
        'inline-flex h-7 items-center gap-1 rounded-full border px-2.5 text-xs disabled:opacity-50',
        isChosen
          ? 'border-accent bg-accent-soft font-medium text-accent'
          : 'border-line-strong hover:bg-sunken',
      )}
    >
      {isChosen && <Check size={12} />}
      {children}
    </button>
  );
}
