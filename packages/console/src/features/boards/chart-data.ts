import type { AnalysisResult, AnalysisRow, Measure, StreamBuckets, Warning } from '@tollgate/contract';
import { nowS } from '../../clock.js';
import { bucketSizeOf, bucketStarts } from './buckets.js';

/** Key of the rows of a response without buckets. */
const TOTALS = 0;

/**
 * The query parameters and rows of a chart. The object is immutable: each update creates a new one.
 */
export interface ChartData {
  readonly bucketSize: string;
  readonly timezone: string;
  readonly from: number;
  readonly to: number;
  readonly measures: readonly Measure[];
  /** Whether more rows exist than the response has. */
  readonly isTruncated: boolean;
  /** Warnings about names that no usage has. */
  readonly warnings: readonly Warning[];
  /** By start of their bucket. An array stays the same object while nothing in its bucket changes. */
  readonly rows: ReadonlyMap<number, readonly AnalysisRow[]>;
  /** Time of the response by the clock of this browser, which may differ from the service's. */
  readonly receivedAtS: number;
}

export function chartDataOf(result: AnalysisResult): ChartData {
  return {
    bucketSize: result.bucket_size,
    timezone: result.timezone,
    from: result.from,
    to: result.to,
    measures: result.measures,
    isTruncated: result.truncated,
    warnings: result.warnings,
    rows: byBucket(result.rows),
    receivedAtS: nowS(),
  };
}

/** Replaces the buckets of an update in the data; undefined if the chart has to be fetched again. */
export function withBuckets(data: ChartData, update: StreamBuckets): ChartData | undefined {
  if (update.bucket_size !== data.bucketSize) return undefined;
  const rows = new Map(data.rows);
  for (const bucket of update.buckets) rows.delete(bucket ?? TOTALS);
  for (const [bucket, fresh] of byBucket(update.rows)) rows.set(bucket, fresh);
  // Removes buckets before the range, because a board may stay open for weeks.
  const oldest = firstBucket(update.from, data) ?? TOTALS;
  for (const bucket of rows.keys()) if (bucket < oldest) rows.delete(bucket);
  const warnings = data.warnings.filter((warning) => !update.rows.some((row) => isSeen(row, warning)));
  return { ...data, from: update.from, to: update.to, warnings, rows, receivedAtS: nowS() };
}

/** Whether a row shows that some usage has the name of a warning. */
function isSeen({ metric, group }: AnalysisRow, { code, name }: Warning): boolean {
  return code === 'unknown_metric' ? metric === name : group[name] != null;
}

/** Moves the range of the data to `atS`, for ranges that end now. */
export function advancedTo(data: ChartData, atS: number): ChartData {
  const passedS = Math.max(atS - data.receivedAtS, 0);
  if (passedS === 0) return data;
  return { ...data, from: data.from + passedS, to: data.to + passedS, receivedAtS: atS };
}

export function rowsOf({ rows }: ChartData): AnalysisRow[] {
  return [...rows.values()].flat();
}

function firstBucket(fromS: number, { bucketSize, timezone }: ChartData): number | undefined {
  const size = bucketSizeOf(bucketSize);
  return size === undefined ? undefined : bucketStarts(fromS, fromS + 1, size, timezone)[0];
}

function byBucket(rows: readonly AnalysisRow[]): Map<number, AnalysisRow[]> {
  const grouped = new Map<number, AnalysisRow[]>();
  for (const row of rows) {
    const bucket = row.bucket ?? TOTALS;
    const known = grouped.get(bucket);
    if (known === undefined) grouped.set(bucket, [row]);
    else known.push(row);
  }
  return grouped;
}
