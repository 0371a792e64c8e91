import type { AnalysisRow, Measure } from '@tollgate/contract';
import { exactSum } from '../../exact-sum.js';
import { bucketEnd, bucketSizeOf, bucketStarts } from './buckets.js';
import type { ChartData } from './chart-data.js';
import { type Fold, foldsOf } from './fold.js';
import { type Line, type LineStep, moved, newLine, put, textsAt } from './line.js';

/** One line, area or row of bars. */
export interface Series {
  /** The same for the same line of every answer. */
  readonly key: string;
  /** Null where metrics are added up. */
  readonly metric: string | null;
  readonly label: string;
  /** A currency, or what a quantity is counted in. Only what has the same unit is drawn on one axis. */
  readonly unit: string;
  /** Whether it sums groups: those past the limit of the chart, and those too small to be seen beside the others. */
  readonly isOther: boolean;
  /** The metrics and groups that it sums: one, unless it sums others. */
  readonly parts: readonly SeriesPart[];
  /** By index of the times; 0 where nothing happened. For drawing only: a double holds no money. */
  readonly values: Float64Array;
  /** The same, exact; undefined where nothing happened. */
  readonly exact: readonly (string | undefined)[];
  /** Exact. */
  readonly total: string;
}

/** The series that a row belongs to. */
export interface SeriesPart {
  readonly metric: string | null;
  /** Undefined for all groups past the limit. */
  readonly group: AnalysisRow['group'] | undefined;
}

export interface SeriesSet {
  /** Starts of the buckets up to the end of the answer, Unix seconds, ascending. */
  readonly times: readonly number[];
  /** Length of the first bucket in seconds; others differ only for months and clock changes. */
  readonly stepS: number;
  /**
   * Whether the range begins within the first bucket, and ends within the last: these hold only part of their
   * usage.
   */
  readonly isFirstCut: boolean;
  readonly isLastCut: boolean;
  /** The greatest first, as they were when they were first drawn; all others past the limit come last. */
  readonly series: readonly Series[];
}

/** What a set was made of: the next one is made of it and of what has changed since. */
interface Made {
  readonly data: ChartData;
  readonly measure: Measure;
  readonly set: SeriesSet;
  /** What the series were made of, in their order. */
  readonly lines: readonly Line[];
  readonly folds: readonly Fold[];
}

/**
 * Makes the successive series sets of one chart. Lines keep their order, and the cost of an update or a step of time
 * depends only on its changes: one new bucket does not read 50,000 points again. Each metric, currency and group is a
 * line, except amounts too small to be seen, which are summed as others.
 */
export class SeriesMaker {
  #made: Made | undefined;

  /** @param untilS buckets that begin at this time or later are not drawn, because the future is not zero */
  make(data: ChartData, measure: Measure, untilS = Number.POSITIVE_INFINITY): SeriesSet {
    const made = this.#made?.measure === measure ? this.#made : undefined;
    const frame = frameOf(data, Math.min(data.to, untilS));
    const step = stepOf(made, data, frame.times);
    if (made !== undefined && step.come.length === 0 && step.gone.length === 0) {
      const set = isSameCut(made.set, frame) ? made.set : { ...made.set, ...frame };
      this.#made = { ...made, data, set };
      return set;
    }
    const lines = linesOf(made?.lines ?? [], step, data, measure, frame.times);
    const folds = measure === 'amount' ? foldsOf(lines, made?.folds ?? [], step) : [];
    const set = { ...frame, series: seriesOf(lines, folds, measure) };
    this.#made = { data, measure, set, lines, folds };
    return set;
  }
}

type Frame = Omit<SeriesSet, 'series'>;

function frameOf({ bucketSize, from, timezone, rows }: ChartData, to: number): Frame {
  const size = bucketSizeOf(bucketSize);
  if (size === undefined)
    return { times: [...rows.keys()], stepS: to - from, isFirstCut: false, isLastCut: false };
  const times = bucketStarts(from, to, size, timezone);
  const [first, last] = [times[0], times.at(-1)];
  return {
    times,
    stepS: first === undefined ? 0 : bucketEnd(first, size, timezone) - first,
    isFirstCut: first !== undefined && first < from,
    isLastCut: last !== undefined && bucketEnd(last, size, timezone) > to,
  };
}

function isSameCut(a: Frame, b: Frame): boolean {
  return a.isFirstCut === b.isFirstCut && a.isLastCut === b.isLastCut;
}

function stepOf(made: Made | undefined, { rows }: ChartData, times: readonly number[]): LineStep {
  const before = new Map(made?.set.times.map((time, index) => [time, index]));
  const kept = times.map((time) =>
    made?.data.rows.get(time) === rows.get(time) ? before.get(time) : undefined,
  );
  const come = kept.flatMap((from, index) => (from === undefined ? [index] : []));
  const staying = new Set(kept);
  return { kept, come, gone: [...before.values()].filter((index) => !staying.has(index)) };
}

/** The lines after a step, those that were there before in the order they had, because with it goes their colour. */
function linesOf(
  before: readonly Line[],
  step: LineStep,
  { rows }: ChartData,
  measure: Measure,
  times: readonly number[],
): Line[] {
  const lines = new Map(before.map((line) => [line.key, moved(line, step)]));
  for (const index of step.come) {
    for (const row of rows.get(times[index] ?? 0) ?? []) {
      if (!isDrawn(row, measure)) continue;
      const key = keyOf(row, measure);
      let line = lines.get(key);
      if (line === undefined) {
        line = newLine(key, row, times.length);
        lines.set(key, line);
      }
      put(line, index, measureOf(row, measure));
    }
  }
  const places = new Map(before.map(({ key }, index) => [key, index]));
  const placeOf = ({ key }: Line) => places.get(key) ?? places.size;
  return [...lines.values()]
    .filter(({ exact }) => exact.some((text) => text !== undefined))
    .map((line) => ({ ...line, total: exactSum([line.total, ...textsAt(line, step.come)]) }))
    .sort(
      (a, b) =>
        Number(a.row.other === true) - Number(b.row.other === true) ||
        placeOf(a) - placeOf(b) ||
        Number(b.total) - Number(a.total) ||
        (a.key < b.key ? -1 : 1),
    );
}

/** Series that sum others come last, in their own order, because they appear and disappear with the series they sum. */
function seriesOf(lines: readonly Line[], folds: readonly Fold[], measure: Measure): Series[] {
  const isOneMetric = new Set(lines.map(({ row }) => row.metric)).size === 1;
  const folded = new Set(folds.flatMap(({ members }) => members.map(({ key }) => key)));
  const rest = lines
    .filter(({ key }) => !folded.has(key))
    .map((line) => ({ line, parts: [partOf(line)], isOther: line.row.other === true }));
  const summed = folds.map(({ line, members }) => ({
    line,
    parts: members.map(partOf),
    isOther: true,
  }));
  const others = [...rest.filter(({ isOther }) => isOther), ...summed];
  return [
    ...rest.filter(({ isOther }) => !isOther),
    ...others.toSorted((a, b) => (a.line.key < b.line.key ? -1 : 1)),
  ].map(({ line: { row, ...line }, parts, isOther }) => ({
    ...line,
    metric: row.metric,
    label: labelOf(row, isOther, isOneMetric),
    unit: unitOf(row, measure),
    isOther,
    parts,
  }));
}

function partOf({ row: { metric, group, other } }: Line): SeriesPart {
  return { metric, group: other === true ? undefined : group };
}

function isDrawn({ currency }: AnalysisRow, measure: Measure): boolean {
  return measure !== 'amount' || currency !== null;
}

function keyOf(row: AnalysisRow, measure: Measure): string {
  let key = `${row.metric}\n${unitOf(row, measure)}`;
  if (row.other === true) return `${key}\nother`;
  // A null is the absence of the dimension, and another group than that of an empty text.
  for (const name in row.group) {
    const value = row.group[name];
    key += value == null ? '\n-' : `\n=${value.length}:${value}`;
  }
  return key;
}

function measureOf(row: AnalysisRow, measure: Measure): string {
  return String(row[measure] ?? 0);
}

function unitOf({ unit, currency }: AnalysisRow, measure: Measure): string {
  if (measure === 'amount') return currency ?? '';
  return measure === 'quantity' ? (unit ?? '') : '';
}

function labelOf({ metric, group }: AnalysisRow, isOther: boolean, isOneMetric: boolean): string {
  const values = isOther ? ['All others'] : Object.values(group).map((value) => value ?? '(none)');
  if (values.length === 0) return metric ?? 'Total';
  return (isOneMetric || metric === null ? values : [metric, ...values]).join(' · ');
}
