import { Chip } from './chip.js';

/** A group of toggle buttons, of which up to `max` are on. */
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
            <Chip
              key={name}
              isChosen={isChosen}
              isDisabled={!isChosen && isFull}
              onToggle={() => onChange(isChosen ? chosen.filter((each) => each !== name) : [...chosen, name])}
            >
              {labelOf(name)}
            </Chip>
          );
        })}
      </div>
    </fieldset>
  );
}
