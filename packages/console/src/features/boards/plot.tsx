import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { axisNumber, axisTimes } from '../../format.js';
import { type Theme, useTheme } from '../../theme.js';
import { seriesColor } from './palette.js';
import type { SeriesSet } from './series.js';

export type PlotType = 'line' | 'area' | 'bar';

export interface PlotProps {
  readonly type: PlotType;
  readonly data: SeriesSet;
  readonly timezone: string;
  /** Plots of one name share their crosshair. */
  readonly syncKey: string;
  readonly height: number;
  /** Which bucket is pointed at; undefined when none is. */
  readonly onHover: (index: number | undefined) => void;
}

const BAR_SHARE = 0.7;
const FILL_ALPHA = '59';
const X_TICK_PX = 90;
const Y_AXIS_PX = 52;

/** Draws the series on a canvas. What it shows can be read from the legend and the table beside it. */
export function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const theme = useTheme();
  const { type, data, timezone, syncKey, height, onHover } = props;
  const hover = useRef(onHover);
  hover.current = onHover;
  const shape = `${type} ${theme} ${timezone} ${syncKey} ${height} ${data.series.map(({ label, unit }) => `${label}\n${unit}`).join('\n')}`;
  const drawn = type === 'line' ? lines(data) : stacked(data);
  const latest = useRef(drawn);
  latest.current = drawn;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` is all that a new plot is made for
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const options = optionsOf(props, theme, element.clientWidth, (index) => hover.current(index));
    const made = new uPlot(options, latest.current, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  // New numbers of the same series move what is drawn; nothing is built anew, so nothing flickers.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `data` is what the drawn columns are made of
  useEffect(() => plot.current?.setData(latest.current), [data]);
  return <div ref={host} style={{ height }} aria-hidden="true" />;
}

function lines({ times, series }: SeriesSet): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

/** Each series on top of those before it; drawn from the topmost down, so that each covers what is below its own share. */
function stacked({ times, series }: SeriesSet): uPlot.AlignedData {
  const below = times.map(() => 0);
  const columns = series.map(({ values }) =>
    values.map((value, index) => {
      below[index] = (below[index] ?? 0) + value;
      return below[index];
    }),
  );
  return [[...times], ...columns.reverse()];
}

function optionsOf(
  { type, data, timezone, syncKey, height }: PlotProps,
  theme: Theme,
  width: number,
  onHover: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink-faint');
  const line = style.getPropertyValue('--line');
  const indexes = data.series.map((_, index) => index);
  const order = type === 'line' ? indexes : indexes.reverse();
  const font = '11px "Inter Variable", system-ui, sans-serif';
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    tzDate: (unixS) => uPlot.tzDate(new Date(unixS * 1_000), timezone),
    ...(type === 'area' ? { bands: bandsBetween(order.length) } : {}),
    cursor: { sync: { key: syncKey }, y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, min, max) => [Math.min(0, min), max > 0 ? max * 1.05 : 1] } },
    axes: [
      {
        stroke: ink,
        font,
        space: X_TICK_PX,
        grid: { show: false },
        ticks: { stroke: line, width: 1, size: 4 },
        values: (_plot, times, _axis, _space, stepS) => axisTimes(times, stepS, timezone),
      },
      {
        stroke: ink,
        font,
        size: Y_AXIS_PX,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        values: (_plot, values) => values.map(axisNumber),
      },
    ],
    series: [{}, ...order.map((index) => drawnSeries(type, theme, index))],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)] },
  };
}

/** Each series is filled down to the next one, not to the ground: colours do not mix. */
function bandsBetween(count: number): uPlot.Band[] {
  return Array.from({ length: Math.max(count - 1, 0) }, (_, index) => ({ series: [index + 1, index + 2] }));
}

function drawnSeries(type: PlotType, theme: Theme, index: number): uPlot.Series {
  const color = seriesColor(theme, index);
  if (type === 'bar') {
    const paths = uPlot.paths.bars?.({ size: [BAR_SHARE, 64] });
    return { stroke: color, fill: color, width: 0, points: { show: false }, ...(paths && { paths }) };
  }
  const fill = type === 'area' ? { fill: `${color}${FILL_ALPHA}` } : {};
  return { stroke: color, width: 1.5, points: { show: false }, ...fill };
}
