import type { PlotType } from '@tollgate/contract';
import type uPlot from 'uplot';

/** Width of a bar as a share of its bucket. */
const BAR_SHARE = 0.7;
const BAR_PX_MAX = 64;

/** Functions from values to canvas positions, prepared once per series because there are many points. */
function placesIn({ bbox, scales }: uPlot) {
  const [x, y] = [scales.x, scales.y];
  const [xMin, yMin] = [x?.min ?? 0, y?.min ?? 0];
  const xPx = bbox.width / ((x?.max ?? 1) - xMin || 1);
  const yPx = bbox.height / ((y?.max ?? 1) - yMin || 1);
  const bottom = bbox.top + bbox.height;
  return {
    xOf: (value: number) => bbox.left + (value - xMin) * xPx,
    yOf: (value: number) => bottom - (value - yMin) * yPx,
    xPx,
  };
}

/** The values of the series below in a stack; undefined for the lowest series. */
function belowOf({ data }: uPlot, seriesIndex: number): ArrayLike<number | null | undefined> | undefined {
  return seriesIndex > 1 ? data[seriesIndex - 1] : undefined;
}

/** An area down to the series below, so that colours do not mix, and a line on top of it. */
export const areaPaths: uPlot.Series.PathBuilder = (plot, seriesIndex, first, last) => {
  const times = plot.data[0];
  const below = belowOf(plot, seriesIndex);
  const { xOf, yOf } = placesIn(plot);
  const stroke = lineOf(plot, seriesIndex, first, last);
  const fill = new Path2D(stroke);
  for (let index = last; index >= first; index--)
    fill.lineTo(xOf(times[index] ?? 0), yOf(below?.[index] ?? 0));
  fill.closePath();
  return { stroke, fill };
};

export const linePaths: uPlot.Series.PathBuilder = (plot, seriesIndex, first, last) => ({
  stroke: lineOf(plot, seriesIndex, first, last),
});

function lineOf(plot: uPlot, seriesIndex: number, first: number, last: number): Path2D {
  const times = plot.data[0];
  const values = plot.data[seriesIndex] ?? [];
  const { xOf, yOf } = placesIn(plot);
  const line = new Path2D();
  for (let index = first; index <= last; index++)
    line.lineTo(xOf(times[index] ?? 0), yOf(values[index] ?? 0));
  return line;
}

/** Stacked bars, centred on the start of their bucket. */
export const barPaths: uPlot.Series.PathBuilder = (plot, seriesIndex, first, last) => {
  const times = plot.data[0];
  const values = plot.data[seriesIndex] ?? [];
  const below = belowOf(plot, seriesIndex);
  const { xOf, yOf, xPx } = placesIn(plot);
  const stepPx = times.length < 2 ? plot.bbox.width : xPx * stepOf(times);
  const widthPx = Math.max(Math.min(stepPx * BAR_SHARE, BAR_PX_MAX * devicePixelRatio), 1);
  const fill = new Path2D();
  for (let index = first; index <= last; index++) {
    const [top, bottom] = [yOf(values[index] ?? 0), yOf(below?.[index] ?? 0)];
    if (top !== bottom) fill.rect(xOf(times[index] ?? 0) - widthPx / 2, top, widthPx, bottom - top);
  }
  return { fill };
};

/** Seconds between the first two buckets. Daily buckets differ by an hour at most. */
function stepOf(times: ArrayLike<number>): number {
  const [first = 0, second = first] = [times[0], times[1]];
  return second - first;
}

const HATCH_ALPHA = '14';
const HATCH_PX = 6;

/** Hatches partial buckets, so that their lower values are not read as a drop. */
export function hatchPartial(
  plot: uPlot,
  partial: { readonly isFirstPartial: boolean; readonly isLastPartial: boolean },
  type: PlotType,
  ink: string,
): void {
  const times = plot.data[0];
  const count = times.length;
  if (count < 2) return;
  const { xOf } = placesIn(plot);
  const half = stepOf(times) / 2;
  const room = (index: number, neighbour: number): [number, number] => {
    const [at = 0, next = 0] = [times[index], times[neighbour]];
    return type === 'bar' ? [at - half, at + half] : [Math.min(at, next), Math.max(at, next)];
  };
  const rooms = [
    ...(partial.isFirstPartial ? [room(0, 1)] : []),
    ...(partial.isLastPartial ? [room(count - 1, count - 2)] : []),
  ];
  const { ctx, bbox } = plot;
  ctx.save();
  for (const [from, to] of rooms) {
    const [left, right] = [Math.max(xOf(from), bbox.left), Math.min(xOf(to), bbox.left + bbox.width)];
    const lines = new Path2D();
    const step = HATCH_PX * devicePixelRatio;
    for (let x = left - bbox.height; x < right; x += step) {
      lines.moveTo(x, bbox.top + bbox.height);
      lines.lineTo(x + bbox.height, bbox.top);
    }
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.strokeStyle = ink + HATCH_ALPHA;
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.stroke(lines);
    ctx.restore();
  }
  ctx.restore();
}
