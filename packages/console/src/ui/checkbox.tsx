import { type ReactNode, useId } from 'react';

/** A checkbox with a label and a hint. */
export function Checkbox({
  label,
  hint,
  isChecked,
  isDisabled = false,
  onChange,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isChecked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        checked={isChecked}
        disabled={isDisabled}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id} className="text-[13px] font-medium">
          {label}
        </label>
        <p id={`${id}-hint`} className="mt-0.5 text-xs text-ink-faint empty:hidden">
          {hint}
        </p>
      </div>
    </div>
  );
}
