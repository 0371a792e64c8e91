import type { AnalysisResult, AnalysisRow, Measure, StreamBuckets, Warning } from '@tollgate/contract';
import { nowS } from '../../clock.js';
import { bucketSizeOf, bucketStarts } from './buckets.js';

/** Where the rows of an answer without buckets stand. */
const TOTALS = 0;

/**
 * What a chart asked and was answered, and what was told of it since. It never changes: each telling makes a
 * new one.
 */
export interface ChartData {
  readonly bucketSize: string;
  readonly timezone: string;
  readonly from: number;
  readonly to: number;
  readonly measures: readonly Measure[];
  /** More rows exist than were answered. */
  readonly isTruncated: boolean;
  /** Names that no usage has had so far. */
  readonly warnings: readonly Warning[];
  /** By the start of their bucket; an array stays the same for as long as nothing in its bucket changes. */
  readonly rows: ReadonlyMap<number, readonly AnalysisRow[]>;
  /** When the service said so, by the clock of this browser: its own may differ. */
  readonly toldAtS: number;
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
    toldAtS: nowS(),
  };
}

/** The data with the told buckets in the place of what was there; undefined when the chart has to be asked anew. */
export function withBuckets(data: ChartData, told: StreamBuckets): ChartData | undefined {
  if (told.bucket_size !== data.bucketSize) return undefined;
  const rows = new Map(data.rows);
  for (const bucket of told.buckets) rows.delete(bucket ?? TOTALS);
  for (const [bucket, fresh] of byBucket(told.rows)) rows.set(bucket, fresh);
  // A board stays open for weeks: what its range has left behind is forgotten.
  const oldest = firstBucket(told.from, data) ?? TOTALS;
  for (const bucket of rows.keys()) if (bucket < oldest) rows.delete(bucket);
  const warnings = data.warnings.filter((warning) => !told.rows.some((row) => isSeen(row, warning)));
  return { ...data, from: told.from, to: told.to, warnings, rows, toldAtS: nowS() };
}

/** Whether a row shows that some usage has the name of a warning. */
function isSeen({ metric, group }: AnalysisRow, { code, name }: Warning): boolean {
  return code === 'unknown_metric' ? metric === name : group[name] != null;
}

/** The data as they stand at `atS`: a range that ends now has moved on since it was told of. */
export function slidTo(data: ChartData, atS: number): ChartData {
  const passedS = Math.max(atS - data.toldAtS, 0);
  if (passedS === 0) return data;
  return { ...data, from: data.from + passedS, to: data.to + passedS, toldAtS: atS };
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
