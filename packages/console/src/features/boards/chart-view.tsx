import { isOfMoney, isSum, type Measure, type PlotType } from '@tollgate/contract';
import { useMemo, useState } from 'react';
import { exactSum } from '../../exact-sum.js';
import { dateMinute, decimalSignificant } from '../../format.js';
import { useTheme } from '../../theme.js';
import { classes } from '../../ui/classes.js';
import type { EventLinks } from './event-links.js';
import type { Hover } from './hover.js';
import { Legend } from './legend.js';
import { type ColoredSeries, colored } from './palette.js';
import { Plot } from './plot.js';
import type { SeriesSet } from './series.js';

export interface ChartViewProps {
  readonly type: PlotType;
  readonly set: SeriesSet;
  readonly measure: Measure;
  readonly timezone: string;
  readonly untilS?: number | undefined;
  readonly syncKey: string;
  readonly height: number;
  readonly hover: Hover;
  readonly links?: EventLinks | undefined;
}

const SUMMED_MAX = 5;
const WORDS: Readonly<Record<PlotType, string>> = {
  line: 'Lines',
  area: 'Stacked areas',
  bar: 'Stacked bars',
};

/** A plot with its legend. Each currency or other unit has its own plot, of which one is shown. */
export function ChartView(props: ChartViewProps) {
  const { type, set, measure, timezone, untilS, syncKey, height, hover, links } = props;
  const theme = useTheme();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const units = [...new Set(set.series.map(({ unit }) => unit))];
  const [chosenUnit, setUnit] = useState<string>();
  const unit = chosenUnit !== undefined && units.includes(chosenUnit) ? chosenUnit : units[0];
  const all = useMemo(
    () =>
      colored(
        set.series.filter((each) => each.unit === unit),
        theme,
      ),
    [set.series, unit, theme],
  );
  const shown = useMemo(() => all.filter(({ key }) => !hidden.has(key)), [all, hidden]);
  const total = useMemo(() => totalOf(shown, measure), [shown, measure]);
  const toggle = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    setHidden(next);
  };
  const isolate = (only: string) => {
    const isAlone = shown.length === 1 && shown[0]?.key === only;
    setHidden(new Set(isAlone ? [] : all.flatMap(({ key }) => (key === only ? [] : [key]))));
  };
  return (
    <>
      {units.length > 1 && <Units units={units} chosen={unit} onChoose={setUnit} />}
      <div className="px-2">
        <Plot
          {...{ type, timezone, hover, untilS, syncKey, height }}
          linkAt={links?.ofBucket}
          frame={set}
          series={shown}
          summary={summaryOf(type, set, shown, timezone)}
        />
      </div>
      <Legend {...{ hidden, total, hover, links }} series={all} onToggle={toggle} onIsolate={isolate} />
    </>
  );
}

/** The total of the shown series. Money is summed over metrics, other measures only within one. */
function totalOf(shown: readonly ColoredSeries[], measure: Measure) {
  const metrics = new Set(shown.map(({ metric }) => metric));
  if (shown.length < 2 || !isSum(measure) || (!isOfMoney(measure) && metrics.size > 1)) return undefined;
  return {
    exact: exactSum(shown.flatMap(({ total }) => total ?? [])),
    at: (index: number) => exactSum(shown.flatMap(({ exact }) => exact[index] ?? [])),
  };
}

function summaryOf(
  type: PlotType,
  { times }: SeriesSet,
  shown: readonly ColoredSeries[],
  timezone: string,
): string {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return WORDS[type];
  const texts = shown
    .slice(0, SUMMED_MAX)
    .map(({ label, total, unit }) =>
      total === undefined ? label : `${label} ${decimalSignificant(total)} ${unit}`.trim(),
    );
  const more = shown.length > texts.length ? ` and ${shown.length - texts.length} more` : '';
  return `${WORDS[type]} from ${dateMinute(first, timezone)} to ${dateMinute(last, timezone)}: ${texts.join(', ')}${more}.`;
}

function Units({
  units,
  chosen,
  onChoose,
}: {
  readonly units: readonly string[];
  readonly chosen: string | undefined;
  readonly onChoose: (unit: string) => void;
}) {
  return (
    <fieldset aria-label="Unit" className="mb-1 flex gap-1 px-4">
      {units.map((unit) => (
        <button
          key={unit}
          type="button"
          aria-pressed={unit === chosen}
          onClick={() => onChoose(unit)}
          className={classes(
            'rounded-sm px-2 py-0.5 text-xs',
            unit === chosen ? 'bg-sunken font-medium' : 'text-ink-soft hover:text-ink',
          )}
        >
          {unit === '' ? '(no unit)' : unit}
        </button>
      ))}
    </fieldset>
  );
}
