import type { AnalysisRow, Measure } from '@tollgate/contract';
import { exactSum, negated } from '../../exact-sum.js';
import { bucketEnd, bucketSeconds, bucketStarts } from './buckets.js';
import type { ChartData } from './chart-data.js';

/** One line, area or row of bars. */
export interface Series {
  /** The same for the same line of every answer. */
  readonly key: string;
  readonly metric: string;
  readonly label: string;
  /** A currency, or what a quantity is counted in. Only what has the same unit is drawn on one axis. */
  readonly unit: string;
  /** Whether it sums all groups past the limit of the chart. */
  readonly isOther: boolean;
  /** By index of the times; 0 where nothing happened. For drawing only: a double holds no money. */
  readonly values: Float64Array;
  /** The same, exact; undefined where nothing happened. */
  readonly exact: readonly (string | undefined)[];
  /** Exact. */
  readonly total: string;
}

export interface SeriesSet {
  /** Starts of the buckets up to the end of the answer, Unix seconds, ascending. */
  readonly times: readonly number[];
  /** Whether the range begins within the first bucket, and ends within the last: these hold only part of their usage. */
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
}

/**
 * Makes the sets of one chart, one after another. Lines keep their places, and a telling costs what it changes: the numbers of
 * 50,000 points are not read anew for one bucket. Metrics, currencies and groups are never added up: each is a line of its own.
 */
export class SeriesMaker {
  #made: Made | undefined;

  /** @param untilS no bucket that begins at this moment or later is drawn: what has not happened is not zero */
  make(data: ChartData, measure: Measure, untilS = Number.POSITIVE_INFINITY): SeriesSet {
    const made = this.#made;
    const frame = frameOf(data, Math.min(data.to, untilS));
    const set =
      made !== undefined && made.measure === measure && isSame(made.set.times, frame.times)
        ? (updated(made, data, measure, frame) ?? built(data, measure, frame, made))
        : built(data, measure, frame, made?.measure === measure ? made : undefined);
    this.#made = { data, measure, set };
    return set;
  }
}

type Frame = Pick<SeriesSet, 'times' | 'isFirstCut' | 'isLastCut'>;

function frameOf({ bucketSize, from, timezone, rows }: ChartData, to: number): Frame {
  const sizeS = bucketSeconds(bucketSize);
  if (sizeS === undefined) return { times: [...rows.keys()], isFirstCut: false, isLastCut: false };
  const times = bucketStarts(from, to, sizeS, timezone);
  const [first, last] = [times[0], times.at(-1)];
  return {
    times,
    isFirstCut: first !== undefined && first < from,
    isLastCut: last !== undefined && bucketEnd(last, sizeS, timezone) > to,
  };
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a[0] === b[0] && a.at(-1) === b.at(-1);
}

interface Line {
  readonly row: AnalysisRow;
  readonly key: string;
  readonly values: Float64Array;
  readonly exact: (string | undefined)[];
}

/** Reads everything. Lines that were there before keep their order, because with it goes their colour. */
function built(data: ChartData, measure: Measure, frame: Frame, before: Made | undefined): SeriesSet {
  const lines = new Map<string, Line>();
  const metrics = new Set<string>();
  for (const [index, time] of frame.times.entries()) {
    for (const row of data.rows.get(time) ?? []) {
      if (!isDrawn(row, measure)) continue;
      metrics.add(row.metric);
      const key = keyOf(row, measure);
      let line = lines.get(key);
      if (line === undefined) {
        const { length } = frame.times;
        line = { row, key, values: new Float64Array(length), exact: new Array(length).fill(undefined) };
        lines.set(key, line);
      }
      put(line, index, measureOf(row, measure));
    }
  }
  const places = new Map(before?.set.series.map(({ key }, index) => [key, index]));
  const placeOf = ({ key }: Series) => places.get(key) ?? places.size;
  const series = [...lines.values()].map((line) => finished(line, measure, metrics.size === 1));
  series.sort(
    (a, b) =>
      Number(a.isOther) - Number(b.isOther) ||
      placeOf(a) - placeOf(b) ||
      Number(b.total) - Number(a.total) ||
      (a.key < b.key ? -1 : 1),
  );
  return { ...frame, series };
}

function put({ values, exact }: Pick<Line, 'values' | 'exact'>, index: number, value: string): void {
  const there = exact[index];
  const sum = there === undefined ? value : exactSum([there, value]);
  exact[index] = sum;
  values[index] = Number(sum);
}

function finished({ row, key, values, exact }: Line, measure: Measure, isOneMetric: boolean): Series {
  return {
    key,
    metric: row.metric,
    label: labelOf(row, isOneMetric),
    unit: unitOf(row, measure),
    isOther: row.other === true,
    values,
    exact,
    total: exactSum(exact.filter((text) => text !== undefined)),
  };
}

/** The set with the buckets read anew that have changed; undefined when a line has come that was not there. */
function updated(
  { data: before, set }: Made,
  data: ChartData,
  measure: Measure,
  frame: Frame,
): SeriesSet | undefined {
  const changed = frame.times.flatMap((time, index) =>
    before.rows.get(time) === data.rows.get(time) ? [] : [index],
  );
  const isFrameSame = frame.isFirstCut === set.isFirstCut && frame.isLastCut === set.isLastCut;
  if (changed.length === 0) return isFrameSame ? set : { ...set, ...frame };
  const copies = new Map(set.series.map((each) => [each.key, copyWithout(each, changed)]));
  for (const index of changed) {
    for (const row of data.rows.get(frame.times[index] ?? 0) ?? []) {
      if (!isDrawn(row, measure)) continue;
      const copy = copies.get(keyOf(row, measure));
      if (copy === undefined) return undefined;
      put(copy, index, measureOf(row, measure));
    }
  }
  const series = set.series.map((each) => {
    const { values, exact } = copies.get(each.key) ?? each;
    const gone = changed.flatMap((index) => each.exact[index] ?? []).map(negated);
    const come = changed.flatMap((index) => exact[index] ?? []);
    return { ...each, values, exact, total: exactSum([each.total, ...gone, ...come]) };
  });
  return { ...set, ...frame, series };
}

function copyWithout({ values, exact }: Series, indexes: readonly number[]): Pick<Line, 'values' | 'exact'> {
  const copy = { values: values.slice(), exact: exact.slice() };
  for (const index of indexes) {
    copy.values[index] = 0;
    copy.exact[index] = undefined;
  }
  return copy;
}

/** An unpriced item has no amount to draw. */
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

function labelOf({ metric, group, other }: AnalysisRow, isOneMetric: boolean): string {
  const values = other === true ? ['All others'] : Object.values(group).map((value) => value ?? '(none)');
  if (values.length === 0) return metric;
  return (isOneMetric ? values : [metric, ...values]).join(' · ');
}
