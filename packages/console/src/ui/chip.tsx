import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.js';

/** One of a few choices, on or off. */
export function Chip({
  label,
  isChosen,
  isDisabled = false,
  onToggle,
  children,
}: {
  /** For those who hear it, where what is seen says too little. */
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
