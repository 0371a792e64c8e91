import { type Measure, uniqueName } from '@tollgate/contract';
import type { HistoryScope } from '../storage/index.js';
import type { DimensionCondition } from '../usage/index.js';
import { needsOneUnit } from './measure-sql.js';
import type { SourcePart } from './source.js';

/** The project whose usage is read, and the start of its retention. Every query is confined to it. */
export type AnalysisScope = HistoryScope;

/** A query that was checked and completed. Times are Unix seconds. */
export interface PlannedQuery {
  /** Undefined: all metrics. */
  readonly metrics: readonly string[] | undefined;
  /** Whether rows keep metrics, and with them units, apart. */
  readonly splitsMetrics: boolean;
  readonly measures: readonly Measure[];
  /** Names that rows are grouped by in addition to the bucket: dimensions and reserved names. */
  readonly dimensions: readonly string[];
  readonly filters: readonly DimensionCondition[];
  readonly sources: readonly SourcePart[];
  /** The named dimensions that some rows of the rollup lack. */
  readonly excludedDimensions: readonly string[];
  /** Start of every bucket that touches the range, ascending; empty for totals. */
  readonly bucketStarts: readonly number[];
  /** Number of groups of each kind with their own rows; the others are summed. Undefined: all. */
  readonly groupsMax: number | undefined;
  readonly rowsMax: number;
}

/** The names of dimensions, and the reserved ones, that a query reads. */
export function namesOf({
  dimensions,
  filters,
  measures,
}: Pick<PlannedQuery, 'dimensions' | 'filters' | 'measures'>): string[] {
  const counted = measures.flatMap((measure) => uniqueName(measure) ?? []);
  return [...new Set([...dimensions, ...filters.map(([name]) => name), ...counted])];
}

/** Columns that rows are split by in addition to bucket and group; different currencies are never added up. */
export function kindsOf({ splitsMetrics }: PlannedQuery): readonly string[] {
  return splitsMetrics ? ['metric', 'unit', 'currency'] : ['currency'];
}

/** Whether a row adds up or compares quantities that may have different units. */
export function addsUnits({
  splitsMetrics,
  measures,
}: Pick<PlannedQuery, 'splitsMetrics' | 'measures'>): boolean {
  return !splitsMetrics && measures.some(needsOneUnit);
}
