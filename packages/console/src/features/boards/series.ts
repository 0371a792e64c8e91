import type { AnalysisResult, AnalysisRow, Measure } from '@tollgate/contract';
import { exactSum } from '../../exact-sum.js';

/** One line, area or row of bars. */
export interface Series {
  readonly label: string;
  readonly unit: string;
  /** By index of the times; 0 where nothing happened. For drawing only: a double holds no money. */
  readonly values: readonly number[];
  /** The same, exact. */
  readonly exact: readonly string[];
  /** Exact. */
  readonly total: string;
}

export interface SeriesSet {
  /** Starts of the buckets, Unix seconds, ascending. */
  readonly times: readonly number[];
  /** The greatest first. */
  readonly series: readonly Series[];
}

interface Collected {
  readonly label: string;
  readonly unit: string;
  readonly byTime: Map<number, string[]>;
}

/** The lines of one measure. Metrics, currencies and groups are never added up: each is a line of its own. */
export function seriesOf(result: AnalysisResult, measure: Measure): SeriesSet {
  const times = allTimes(result);
  const collected = new Map<string, Collected>();
  const isOneMetric = new Set(result.rows.map(({ metric }) => metric)).size === 1;
  for (const row of result.rows) {
    const value = measureOf(row, measure);
    // An unpriced item has no amount to draw.
    if (measure === 'amount' && row.currency === null) continue;
    const unit = unitOf(row, measure);
    const label = labelOf(row, isOneMetric);
    const key = JSON.stringify([row.metric, unit, row.group]);
    const lines = collected.get(key) ?? { label, unit, byTime: new Map() };
    const bucket = row.bucket ?? 0;
    lines.byTime.set(bucket, [...(lines.byTime.get(bucket) ?? []), value]);
    collected.set(key, lines);
  }
  const series = [...collected.values()].map(({ label, unit, byTime }) => {
    const exact = times.map((time) => exactSum(byTime.get(time) ?? []));
    return { label, unit, exact, values: exact.map(Number), total: exactSum(exact) };
  });
  series.sort((a, b) => Number(b.total) - Number(a.total));
  return { times, series };
}

function measureOf(row: AnalysisRow, measure: Measure): string {
  return String(row[measure] ?? 0);
}

function unitOf({ unit, currency }: AnalysisRow, measure: Measure): string {
  if (measure === 'amount') return currency ?? '';
  return measure === 'quantity' ? (unit ?? '') : '';
}

function labelOf({ metric, group }: AnalysisRow, isOneMetric: boolean): string {
  const values = Object.values(group).map((value) => value ?? '(none)');
  if (values.length === 0) return metric;
  return (isOneMetric ? values : [metric, ...values]).join(' · ');
}

const SIZE = /^(\d+)([mhd])$/;
const UNIT_S: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 };
/** Buckets of local days are an hour shorter or longer now and then. */
const TOLERANCE = 1.5;
const TIMES_MAX = 2_000;

/** The buckets that the rows name, and between and around them those in which nothing happened. */
function allTimes({ rows, bucket_size, from, to }: AnalysisResult): number[] {
  const named = [...new Set(rows.map(({ bucket }) => bucket ?? from))].sort((a, b) => a - b);
  const [, digits, unit = ''] = SIZE.exec(bucket_size) ?? [];
  const sizeS = Number(digits) * (UNIT_S[unit] ?? 0);
  const [first] = named;
  if (first === undefined || !(sizeS > 0)) return named;
  const times: number[] = [];
  for (let time = first - Math.ceil((first - from) / sizeS) * sizeS; time < first; time += sizeS)
    times.push(time);
  for (const [index, time] of named.entries()) {
    times.push(time);
    const next = named[index + 1] ?? to;
    const isLast = index === named.length - 1;
    for (let empty = time + sizeS; isLast ? empty < next : next - empty > sizeS / TOLERANCE; empty += sizeS) {
      if (times.length > TIMES_MAX) return named;
      times.push(empty);
    }
  }
  return times;
}
