import type { Measure } from '@tollgate/contract';
import { classes } from '../../ui/classes.js';
import { Select } from '../../ui/field.js';
import { measureLabel } from './measures.js';

/** Buttons of more measures leave no place for the title. */
const BUTTONS_MAX = 4;

/** Selects the measure that a chart draws. */
export function MeasureChoice({
  measures,
  chosen,
  onChoose,
}: {
  readonly measures: readonly Measure[];
  readonly chosen: Measure;
  readonly onChoose: (measure: Measure) => void;
}) {
  if (measures.length < 2) return null;
  if (measures.length > BUTTONS_MAX) {
    const options = measures.map((value) => ({ value, label: measureLabel(value) }));
    return <Select aria-label="Measure" options={options} value={chosen} onChange={onChoose} />;
  }
  return (
    <fieldset aria-label="Measure" className="flex w-fit rounded-md bg-sunken p-0.5">
      {measures.map((measure) => (
        <button
          key={measure}
          type="button"
          aria-pressed={measure === chosen}
          onClick={() => onChoose(measure)}
          className={classes(
            'rounded-sm px-2 py-0.5 text-xs',
            measure === chosen ? 'bg-panel font-medium shadow-xs' : 'text-ink-soft hover:text-ink',
          )}
        >
          {measureLabel(measure)}
        </button>
      ))}
    </fieldset>
  );
}
