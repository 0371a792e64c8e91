import { type AnalysisRow, isOfMoney, isOfQuantities, isSum, type Measure } from '@tollgate/contract';
import { exactSum } from '../../exact-sum.js';
import { bucketEnd, bucketSizeOf, bucketStarts } from './buckets.js';
import type { ChartData } from './chart-data.js';
import { type Fold, foldsOf } from './fold.js';
import { type Line, type LineStep, moved, newLine, put, textsAt } from './line.js';

/** One line, area or row of bars. */
export interface Series {
  /** Identifies the series across responses. */
  readonly key: string;
  /** Null if metrics are summed. */
  readonly metric: string | null;
  readonly label: string;
  /** The currency of money, the unit of a quantity, or `items`. Only series with the same unit share an axis. */
  readonly unit: string;
  /** Whether it sums other groups: those past the limit of the chart, and those too small to be visible. */
  readonly isOther: boolean;
  /** The metrics and groups that it sums: several for a sum of others, otherwise one. */
  readonly parts: readonly SeriesPart[];
  /** By index of the times; 0 without usage. For drawing only, because doubles are not exact. */
  readonly values: Float64Array;
  /** The same as exact decimals; undefined without usage. */
  readonly exact: readonly (string | undefined)[];
  /** An exact decimal; undefined for measures whose buckets do not add up. */
  readonly total: string | undefined;
}

/** The series that a row belongs to. */
export interface SeriesPart {
  readonly metric: string | null;
  /** Undefined for all groups past the limit. */
  readonly group: AnalysisRow['group'] | undefined;
}

export interface SeriesSet {
  /** Starts of the buckets in Unix seconds, ascending. */
  readonly times: readonly number[];
  /** Length of the first bucket in seconds; others differ only for months and clock changes. */
  readonly stepS: number;
  /**
   * Whether the range starts within the first bucket or ends within the last one, so that the bucket has only
   * part of its usage.
   */
  readonly isFirstPartial: boolean;
  readonly isLastPartial: boolean;
  /** In the order of their first totals, largest first. Sums of others come last. */
  readonly series: readonly Series[];
}

/** The previous set and its inputs, from which the next set is computed incrementally. */
interface Previous {
  readonly data: ChartData;
  readonly measure: Measure;
  readonly set: SeriesSet;
  /** The lines of the series, in their order. */
  readonly lines: readonly Line[];
  readonly folds: readonly Fold[];
}

/**
 * Makes the successive series sets of one chart. Lines keep their order, and the cost of an update or a step of time
 * depends only on its changes: one new bucket does not read 50,000 points again. Each metric, currency and group is a
 * line, except amounts too small to be seen, which are summed as others.
 */
export class SeriesMaker {
  #previous: Previous | undefined;

  /** @param untilS buckets that begin at this time or later are not drawn, because the future is not zero */
  make(data: ChartData, measure: Measure, untilS = Number.POSITIVE_INFINITY): SeriesSet {
    const previous = this.#previous?.measure === measure ? this.#previous : undefined;
    const frame = frameOf(data, Math.min(data.to, untilS));
    const step = stepOf(previous, data, frame.times);
    if (previous !== undefined && step.added.length === 0 && step.removed.length === 0) {
      const set = hasSamePartial(previous.set, frame) ? previous.set : { ...previous.set, ...frame };
      this.#previous = { ...previous, data, set };
      return set;
    }
    const lines = linesOf(previous?.lines ?? [], step, data, measure, frame.times);
    const folds = measure === 'amount' ? foldsOf(lines, previous?.folds ?? [], step) : [];
    const set = { ...frame, series: seriesOf(lines, folds, measure) };
    this.#previous = { data, measure, set, lines, folds };
    return set;
  }
}

type Frame = Omit<SeriesSet, 'series'>;

function frameOf({ bucketSize, from, timezone, rows }: ChartData, to: number): Frame {
  const size = bucketSizeOf(bucketSize);
  if (size === undefined)
    return { times: [...rows.keys()], stepS: to - from, isFirstPartial: false, isLastPartial: false };
  const times = bucketStarts(from, to, size, timezone);
  const [first, last] = [times[0], times.at(-1)];
  return {
    times,
    stepS: first === undefined ? 0 : bucketEnd(first, size, timezone) - first,
    isFirstPartial: first !== undefined && first < from,
    isLastPartial: last !== undefined && bucketEnd(last, size, timezone) > to,
  };
}

function hasSamePartial(a: Frame, b: Frame): boolean {
  return a.isFirstPartial === b.isFirstPartial && a.isLastPartial === b.isLastPartial;
}

function stepOf(previous: Previous | undefined, { rows }: ChartData, times: readonly number[]): LineStep {
  const before = new Map(previous?.set.times.map((time, index) => [time, index]));
  const kept = times.map((time) =>
    previous?.data.rows.get(time) === rows.get(time) ? before.get(time) : undefined,
  );
  const added = kept.flatMap((from, index) => (from === undefined ? [index] : []));
  const staying = new Set(kept);
  return { kept, added, removed: [...before.values()].filter((index) => !staying.has(index)) };
}

/** The lines after a step. Existing lines keep their order, and with it their colour. */
function linesOf(
  before: readonly Line[],
  step: LineStep,
  { rows }: ChartData,
  measure: Measure,
  times: readonly number[],
): Line[] {
  const lines = new Map(before.map((line) => [line.key, moved(line, step)]));
  for (const index of step.added) {
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
    .map((line) => ({ ...line, total: exactSum([line.total, ...textsAt(line, step.added)]) }))
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
  const namesCurrency = !isSum(measure) && new Set(lines.map(({ row }) => row.currency)).size > 1;
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
    total: isSum(measure) ? line.total : undefined,
    metric: row.metric,
    label: labelOf(row, isOther, isOneMetric) + (namesCurrency ? ` · ${row.currency ?? 'unpriced'}` : ''),
    // A count would otherwise be a number of nothing: its column in a table is named instead.
    unit: measure === 'item_count' ? 'items' : unitOf(row, measure),
    isOther,
    parts,
  }));
}

function partOf({ row: { metric, group, other } }: Line): SeriesPart {
  return { metric, group: other === true ? undefined : group };
}

/** Usage without a price has no money, and costs alone have no quantities. */
function isDrawn(row: AnalysisRow, measure: Measure): boolean {
  return isOfMoney(measure) ? row.currency !== null : row[measure] !== null;
}

function keyOf(row: AnalysisRow, measure: Measure): string {
  // Sums of several currencies are one line, unless they are money; other measures cannot be added up.
  let key = `${row.metric}\n${unitOf(row, measure)}${isSum(measure) ? '' : `\n${row.currency ?? ''}`}`;
  if (row.other === true) return `${key}\nother`;
  // Null stands for a missing dimension, which is not the same group as an empty text.
  for (const name in row.group) {
    const value = row.group[name];
    key += value == null ? '\n-' : `\n=${value.length}:${value}`;
  }
  return key;
}

function measureOf(row: AnalysisRow, measure: Measure): string {
  return String(row[measure] ?? 0);
}

/** Returns the currency or the unit of a measure of a row; empty for none. */
export function unitOf({ unit, currency }: AnalysisRow, measure: Measure): string {
  if (isOfMoney(measure)) return currency ?? '';
  return measure === 'quantity' || isOfQuantities(measure) ? (unit ?? '') : '';
}

function labelOf({ metric, group }: AnalysisRow, isOther: boolean, isOneMetric: boolean): string {
  const values = isOther ? ['All others'] : Object.values(group).map((value) => value ?? '(none)');
  if (values.length === 0) return metric ?? 'Total';
  return (isOneMetric || metric === null ? values : [metric, ...values]).join(' · ');
}
