import {
  ANALYSIS_GROUP_BY_MAX,
  ANALYSIS_ROWS_MAX,
  ANALYSIS_UNIQUES_MAX,
  type AnalysisQuery,
  isUnique,
  MEASURES_DEFAULT,
  type Measure,
  SPLITS,
  type Split,
  UNIQUE_PREFIX,
  uniqueName,
} from '@tollgate/contract';
import { isTimezone } from '../../kernel/bucket.js';
import { invalidRequest } from '../../kernel/errors.js';
import { checkName, type DimensionCondition, dimensionConditions, resolveTimeRange } from '../usage/index.js';
import { type Bucketing, chooseBuckets } from './buckets.js';

/** A query with every default filled in. Times are Unix seconds. */
export interface NormalizedQuery {
  /** Undefined: all metrics. */
  readonly metrics: readonly string[] | undefined;
  /** Whether rows keep metrics, and with them units, apart. */
  readonly splitsMetrics: boolean;
  readonly measures: readonly Measure[];
  readonly from: number;
  readonly to: number;
  readonly timezone: string;
  readonly buckets: Bucketing;
  /** Names that rows are grouped by in addition to the bucket. */
  readonly dimensions: readonly string[];
  readonly filters: readonly DimensionCondition[];
  /** Number of groups with their own rows, per metric, unit and currency that rows are split by; undefined: all. */
  readonly groupsMax: number | undefined;
  readonly rowsMax: number;
}

const BUCKET = 'bucket';

/** The default without a split by metric, where quantities may have different units. */
const MEASURES_OF_ALL_METRICS: readonly Measure[] = ['item_count', 'amount'];

/**
 * Checks what the schema cannot, and fills in defaults.
 * @throws DomainError `invalid_request` naming the field
 */
export function normalizeQuery(query: AnalysisQuery, nowS: number): NormalizedQuery {
  const { from, to } = resolveTimeRange(query.time_range, nowS);
  const timezone = query.timezone ?? 'UTC';
  if (!isTimezone(timezone)) throw invalidRequest('timezone', 'must be a standard IANA timezone');
  const dimensions = groupedDimensions(query.group_by ?? []);
  const splitsMetrics = (query.split_by ?? SPLITS).includes('metric');
  return {
    metrics: query.metrics && [...new Set(query.metrics)],
    splitsMetrics,
    measures: checkedMeasures(query.measures ?? (splitsMetrics ? MEASURES_DEFAULT : MEASURES_OF_ALL_METRICS)),
    from,
    to,
    timezone,
    buckets: chooseBuckets(query.bucket_size, from, to, timezone),
    dimensions,
    filters: allFilters(query),
    ...limitsOf(query.limit, dimensions),
  };
}

function checkedMeasures(asked: readonly Measure[]): Measure[] {
  const measures = [...new Set(asked)];
  const uniques = measures.filter(isUnique);
  if (uniques.length > ANALYSIS_UNIQUES_MAX) {
    throw invalidRequest('measures', `must have at most ${ANALYSIS_UNIQUES_MAX} entries ${UNIQUE_PREFIX}…`);
  }
  for (const measure of uniques) checkName(uniqueName(measure) ?? '', 'measures');
  return measures;
}

/** With dimensions the limit bounds groups, otherwise rows. */
function limitsOf(
  limit: number | undefined,
  dimensions: readonly string[],
): Pick<NormalizedQuery, 'groupsMax' | 'rowsMax'> {
  if (dimensions.length > 0) return { groupsMax: limit, rowsMax: ANALYSIS_ROWS_MAX };
  return { groupsMax: undefined, rowsMax: limit ?? ANALYSIS_ROWS_MAX };
}

/** Whether rows say if they sum other groups. */
export function flagsOtherGroups({ limit, group_by = [] }: AnalysisQuery): boolean {
  return limitsOf(limit, groupedDimensions(group_by)).groupsMax !== undefined;
}

function groupedDimensions(groupBy: readonly string[]): string[] {
  const names = [...new Set(groupBy)].filter((name) => name !== BUCKET);
  if (names.length > ANALYSIS_GROUP_BY_MAX) {
    throw invalidRequest(
      'group_by',
      `must name at most ${ANALYSIS_GROUP_BY_MAX} dimensions in addition to bucket`,
    );
  }
  for (const name of names) checkName(name, 'group_by');
  return names;
}

function allFilters(query: AnalysisQuery): DimensionCondition[] {
  const filters = dimensionConditions(query.filters);
  for (const name of ['subject_type', 'subject_id'] as const) {
    const value = query[name];
    if (value !== undefined) filters.push([name, { in: [value] }]);
  }
  return filters;
}

/** The value of `split_by` in the response. */
export function resultSplitBy({ splitsMetrics }: NormalizedQuery): Split[] {
  return splitsMetrics ? ['metric'] : [];
}

/** The `group_by` of the response: always the bucket first. */
export function resultGroupBy(query: NormalizedQuery): string[] {
  return [BUCKET, ...query.dimensions];
}
