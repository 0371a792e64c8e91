import type { PlotType } from '@tollgate/contract';
import { useEffect, useEffectEvent, useRef } from 'react';
// This import must come first, because the next one reads the browser's language while it loads.
import '../../browser-language.js';
import uPlot from 'uplot';
import { useLocation } from 'wouter';
import { axisNumber, axisTimes } from '../../format.js';
import { type Theme, useTheme } from '../../theme.js';
import type { Hover } from './hover.js';
import type { ColoredSeries } from './palette.js';
import { seriesAt } from './plot-hit.js';
import { areaPaths, barPaths, hatchPartial, linePaths } from './plot-paths.js';
import type { Series, SeriesSet } from './series.js';

export interface PlotProps {
  readonly type: PlotType;
  /** The times, and which buckets are partial. */
  readonly frame: Omit<SeriesSet, 'series'>;
  readonly series: readonly ColoredSeries[];
  readonly timezone: string;
  /** The end of the axis if it is later than the last bucket: for ranges that end in the future. */
  readonly untilS?: number | undefined;
  /** Plots with the same key share their crosshair. */
  readonly syncKey: string;
  readonly height: number;
  /** Text alternative. */
  readonly summary: string;
  readonly hover: Hover;
  /** The link of a click on a series in a bucket. */
  readonly linkAt?: ((one: Series, index: number) => string | undefined) | undefined;
}

const X_TICK_PX = 90;
const X_AXIS_PX = 32;
const Y_AXIS_PX = 52;
const AREA_ALPHA = '59';
/**
 * With more series than this, points and thick lines would hide each other and make drawing slow.
 */
const FEW_MAX = 12;
const LINE_PX = 1.5;
const THIN_LINE_PX = 1;
/** Opacity of areas without a line on top, for many series. */
const CROWDED_AREA_ALPHA = 'c0';
const FONT_PX = 11;
const FONT_FAMILY = '"Inter Variable", system-ui, sans-serif';
const FONT = `${FONT_PX}px ${FONT_FAMILY}`;
/** Space above the values for their unit. */
const UNIT_PX = 10;
const UNIT_GAP_PX = 5;

/** Draws the series on a canvas. The legend and the table show its numbers as text. */
export function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const theme = useTheme();
  const [, navigate] = useLocation();
  const { type, frame, series, timezone, untilS, syncKey, height, summary } = props;
  const shape = [
    ...[type, theme, timezone, syncKey, height, frame.times.length === 1],
    ...series.map(({ key, color, unit }) => key + color + unit),
  ].join('\0');
  // Callbacks of the plot read the latest props.
  const latest = useEffectEvent(() => props);
  const drawn = useRef<PlotProps>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` has everything that requires a new plot
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    let width = element.clientWidth;
    const made = new uPlot(optionsOf(latest, theme, width), columnsOf(latest()), element);
    followFinger(made);
    openEventsOnClick(made, latest, navigate);
    plot.current = made;
    drawn.current = latest();
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      made.setSize({ width, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  // New numbers of the same series update the plot in place, so that nothing flickers.
  useEffect(() => {
    const before = drawn.current;
    if (before?.frame === frame && before.series === series && before.untilS === untilS) return;
    // In a task of its own, because the task in which React renders is long already.
    const request = requestAnimationFrame(() => {
      drawn.current = latest();
      plot.current?.setData(columnsOf(latest()));
    });
    return () => cancelAnimationFrame(request);
  }, [frame, series, untilS]);
  return <div ref={host} role="img" aria-label={summary} style={{ height }} />;
}

/** On touch screens, a horizontal move moves the crosshair, as a mouse does; a vertical move scrolls the page. */
function followFinger({ over }: uPlot): void {
  over.style.touchAction = 'pan-y pinch-zoom';
  const forward = (type: string) => (event: PointerEvent) => {
    if (event.pointerType !== 'touch') return;
    const { left, right } = over.getBoundingClientRect();
    const clientX = Math.min(Math.max(event.clientX, left), right);
    over.dispatchEvent(new MouseEvent(type, { clientX, clientY: event.clientY }));
  };
  over.addEventListener('pointermove', forward('mousemove'));
  over.addEventListener('pointerup', forward('mouseleave'));
  over.addEventListener('pointercancel', forward('mouseleave'));
}

/** A click on a series opens its events like a link: with the control or command key, in a new tab. */
function openEventsOnClick(plot: uPlot, latest: () => PlotProps, navigate: (href: string) => void): void {
  const { over } = plot;
  const { hover } = latest();
  const linkUnder = (event: MouseEvent) => {
    const { type, series, linkAt } = latest();
    const { left, top } = over.getBoundingClientRect();
    const index = plot.posToIdx(event.clientX - left);
    const tops = series.map(({ exact }, at) =>
      // A line at zero has no events, and must not hide one that has.
      type === 'line' && exact[index] === undefined
        ? Number.NaN
        : plot.valToPos(plot.data[at + 1]?.[index] ?? 0, 'y'),
    );
    const one = series[seriesAt(type, tops, plot.valToPos(0, 'y'), event.clientY - top) ?? -1];
    return { one, href: one && linkAt?.(one, index) };
  };
  over.addEventListener('mousemove', (event) => {
    const { one, href } = linkUnder(event);
    over.style.cursor = href === undefined ? '' : 'pointer';
    hover.setSeries(one?.key);
  });
  over.addEventListener('mouseleave', () => hover.setSeries(undefined));
  over.addEventListener('click', (event) => {
    const { href } = linkUnder(event);
    if (href === undefined) return;
    if (event.ctrlKey || event.metaKey) window.open(href);
    else navigate(href);
  });
}

/** The columns of the plot: values for lines, stacked sums for areas and bars. */
function columnsOf({ type, frame: { times }, series }: PlotProps): uPlot.AlignedData {
  if (type === 'line') return [Float64Array.from(times), ...series.map(({ values }) => values)];
  let below: Float64Array | undefined;
  const columns = series.map(({ values }) => {
    const top = values.slice();
    if (below !== undefined)
      for (let index = 0; index < top.length; index++) top[index] = (top[index] ?? 0) + (below[index] ?? 0);
    below = top;
    return top;
  });
  return [Float64Array.from(times), ...columns];
}

function optionsOf(latest: () => PlotProps, theme: Theme, width: number): uPlot.Options {
  const { type, frame, series, timezone, syncKey, height, hover } = latest();
  const unit = series[0]?.unit ?? '';
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink-faint');
  const line = style.getPropertyValue('--line');
  return {
    width,
    height,
    legend: { show: false },
    padding: [unit === '' ? 8 : 8 + UNIT_PX, 24, 0, 0],
    tzDate: (unixS) => uPlot.tzDate(new Date(unixS * 1_000), timezone),
    cursor: {
      sync: { key: syncKey },
      y: false,
      points: { show: series.length <= FEW_MAX, size: 6 },
      drag: { x: false, y: false },
    },
    scales: {
      x: { range: (plot, min, max) => timeRange(plot, min, max, latest()) },
      y: { range: (_plot, min, max) => [Math.min(0, min), max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      {
        stroke: ink,
        font: FONT,
        space: X_TICK_PX,
        size: X_AXIS_PX,
        grid: { show: false },
        ticks: { stroke: line, width: 1, size: 4 },
        values: (_plot, times, _axis, _space, stepS) => axisTimes(times, stepS, timezone),
        // A single bucket is the only one to label.
        ...(frame.times.length === 1 ? { splits: () => [...latest().frame.times] } : {}),
      },
      {
        stroke: ink,
        font: FONT,
        size: Y_AXIS_PX,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        values: (_plot, values) => values.map(axisNumber),
      },
    ],
    series: [{}, ...series.map((each) => drawnSeries(type, each, series.length))],
    hooks: {
      drawAxes: [
        (plot) => writeUnit(plot, unit, ink),
        (plot) => hatchPartial(plot, latest().frame, type, theme === 'dark' ? '#ffffff' : '#000000'),
      ],
      setCursor: [({ cursor }) => hover.set(cursor.idx ?? undefined)],
    },
  };
}

/** Draws the unit above the values of the axis, aligned to their right edge or moved left if it is long. */
function writeUnit({ ctx, bbox }: uPlot, unit: string, ink: string): void {
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `${FONT_PX * scale}px ${FONT_FAMILY}`;
  ctx.fillStyle = ink;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'top';
  ctx.fillText(unit, Math.max(bbox.left - UNIT_GAP_PX * scale - ctx.measureText(unit).width, 0), 0);
  ctx.restore();
}

/** The range of the x axis. Bars and a single bucket are centred on their time and need half a bucket more. */
function timeRange(
  plot: uPlot,
  min: number,
  max: number,
  { type, untilS = 0, frame: { stepS } }: PlotProps,
): [number, number] {
  const times = plot.data[0];
  const [only = min] = times;
  // For a single bucket, the library would choose a range of its own.
  const [first, last] = times.length < 2 ? [only, only] : [min, max];
  const half = type === 'bar' || times.length < 2 ? (stepS || 60) / 2 : 0;
  return [first - half, Math.max(last, untilS - stepS) + half];
}

const PATHS = { line: linePaths, area: areaPaths, bar: barPaths };

function drawnSeries(type: PlotType, { color }: ColoredSeries, count: number): uPlot.Series {
  // A single bucket has no line.
  const points = { show: ({ data }: uPlot) => data[0].length === 1, size: 7, fill: color };
  const common = { paths: PATHS[type], points };
  if (type === 'bar')
    return { paths: PATHS[type], points: { show: false }, stroke: color, fill: color, width: 0 };
  const isCrowded = count > FEW_MAX;
  if (type === 'line') return { ...common, stroke: color, width: isCrowded ? THIN_LINE_PX : LINE_PX };
  if (isCrowded) return { ...common, fill: color + CROWDED_AREA_ALPHA, width: 0 };
  return { ...common, stroke: color, fill: color + AREA_ALPHA, width: LINE_PX };
}
