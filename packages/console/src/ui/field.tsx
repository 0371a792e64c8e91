import { type ComponentProps, type ReactNode, useId } from 'react';
import { classes } from './classes.js';

const CONTROL =
  'rounded-md border border-line-strong bg-panel px-2.5 text-[13px] text-ink shadow-xs placeholder:text-ink-faint disabled:cursor-not-allowed disabled:bg-sunken disabled:text-ink-faint aria-invalid:border-bad';

export interface FieldProps {
  readonly label: string;
  /** Shown below the control. An error replaces it. */
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly className?: string;
  /** Gets the attributes that connect the control with its label, hint and error. */
  readonly children: (props: FieldControlProps) => ReactNode;
}

export interface FieldControlProps {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId();
  const describedBy = `${id}-hint`;
  return (
    <div className={classes('flex flex-col gap-1.5', className)}>
      <label htmlFor={id} className="text-[13px] font-medium text-ink">
        {label}
      </label>
      {children({ id, 'aria-invalid': error !== undefined, 'aria-describedby': describedBy })}
      <p
        id={describedBy}
        className={classes('text-xs empty:hidden', error === undefined ? 'text-ink-faint' : 'text-bad')}
      >
        {error ?? hint}
      </p>
    </div>
  );
}

export function TextInput({ className, ...rest }: ComponentProps<'input'>) {
  return (
    <input
      type="text"
      autoComplete="off"
      {...rest}
      className={classes(CONTROL, 'h-8', className ?? 'w-full')}
    />
  );
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea {...rest} className={classes(CONTROL, 'min-h-16 py-1.5', className ?? 'w-full')} />;
}

export interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
}

/** The browser's native select, which works with every keyboard, screen reader and phone. */
export function Select<T extends string>({
  options,
  value,
  onChange,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'onChange' | 'value'> & {
  readonly options: readonly Option<T>[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}) {
  return (
    <select
      {...rest}
      value={value}
      onChange={(event) => onChange(event.target.value as T)}
      className={classes(CONTROL, 'h-8 pr-7', className)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
