import { Check } from 'lucide-react';
import { classes } from './classes.js';

/** Some of a few names, each on or off. */
export function Choices({
  label,
  names,
  chosen,
  max,
  onChange,
  labelOf = (name) => name,
}: {
  readonly label: string;
  readonly names: readonly string[];
  readonly chosen: readonly string[];
  readonly max: number;
  readonly onChange: (chosen: string[]) => void;
  readonly labelOf?: (name: string) => string;
}) {
  const isFull = chosen.length >= max;
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1.5 text-[13px] font-medium">{label}</legend>
      <div className="flex flex-wrap gap-1.5">
        {names.map((name) => {
          const isChosen = chosen.includes(name);
          return (
            <button
              key={name}
              type="button"
              aria-pressed={isChosen}
              disabled={!isChosen && isFull}
              onClick={() => onChange(isChosen ? chosen.filter((each) => each !== name) : [...chosen, name])}
              className={classes(
                'inline-flex h-7 items-center gap-1 rounded-full border px-2.5 text-xs disabled:opacity-50',
                isChosen
                  ? 'border-accent bg-accent-soft font-medium text-accent'
                  : 'border-line-strong hover:bg-sunken',
              )}
            >
              {isChosen && <Check size={12} />}
              {labelOf(name)}
            </button>
          );
        })}
      </div>
    </fieldset>
  );
}
