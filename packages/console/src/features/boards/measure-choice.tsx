import type { Measure } from '@tollgate/contract';
import { classes } from '../../ui/classes.js';
import { measureLabel } from './measures.js';

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
  return (
    <fieldset aria-label="Measure" className="flex rounded-md bg-sunken p-0.5">
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
