import {
  BOARD_TIME_RANGE_DEFAULT_S,
  type ChartInput,
  type ChartQuery,
  type ChartType,
  type DimensionFilter,
  isOfTotals,
  type Measure,
} from '@tollgate/contract';
import { parseBucketSize } from '../../kernel/bucket.js';
import { invalidRequest } from '../../kernel/errors.js';
import { normalizeQuery, resultGroupBy, resultSplitBy } from '../analysis/index.js';
import type { BoardRow } from './board-store.js';
import type { ChartRow } from './chart-store.js';

/** The settings of a chart with every default filled in, without its place on the board. */
export type ChartSettings = Pick<
  ChartRow,
  | 'title'
  | 'description'
  | 'chart_type'
  | 'subject_type'
  | 'comparison'
  | 'bucket_size'
  | 'filters'
  | 'group_by'
  | 'measures'
  | 'metrics'
  | 'split_by'
  | 'groups_max'
  | 'bytes'
>;

const AUTOMATIC = 'auto';
const TOTALS = 'none';
/** The groups of a `top_n` without a limit. */
const TOP_DEFAULT = 10;

/**
 * Checks what the schema cannot, by the rules of the query that the chart will send: a saved chart's query is valid.
 *
 * @throws DomainError `invalid_request` naming the field
 */
export function chartSettings(input: ChartInput, nowS: number): ChartSettings {
  const { chart_id: _chartId, board_id: _boardId, title, description, chart_type, ...rest } = input;
  const { position: _position, size: _size, comparison, ...fields } = rest;
  const ofTotals = isOfTotals(chart_type);
  if (comparison !== undefined && !ofTotals) {
    throw invalidRequest('comparison', 'is for the chart types big_number, top_n and table only');
  }
  const bucketSize = bucketSizeOf(chart_type, fields.bucket_size);
  const asked = { ...fields, bucket_size: bucketSize };
  const query = normalizeQuery({ ...asked, time_range: { last_seconds: BOARD_TIME_RANGE_DEFAULT_S } }, nowS);
  const hasGroups = query.dimensions.length > 0;
  // Without dimensions the limit would truncate the series.
  if (asked.limit !== undefined && !hasGroups) throw invalidRequest('limit', 'needs a dimension in group_by');
  if (chart_type === 'big_number' && hasGroups) {
    throw invalidRequest('group_by', 'must have no dimension for a big_number');
  }
  if (chart_type === 'top_n' && !hasGroups) {
    throw invalidRequest('group_by', 'must have a dimension for a top_n');
  }
  const settings = {
    title,
    description: description === undefined || description === '' ? null : description,
    chart_type,
    subject_type: asked.subject_type ?? null,
    comparison: comparison ?? null,
    bucket_size: bucketSize,
    filters: asked.filters ?? ({} as Record<string, DimensionFilter>),
    group_by: resultGroupBy(query),
    measures: [...query.measures] as Measure[],
    metrics: query.metrics === undefined ? null : [...query.metrics],
    split_by: resultSplitBy(query),
    groups_max: asked.limit ?? (chart_type === 'top_n' ? TOP_DEFAULT : null),
  };
  return { ...settings, bytes: Buffer.byteLength(JSON.stringify(settings)) };
}

/** @throws DomainError `invalid_request` */
function bucketSizeOf(type: ChartType, asked: string | undefined): string {
  if (isOfTotals(type)) {
    if (asked === undefined || asked === TOTALS) return TOTALS;
    throw invalidRequest('bucket_size', `must be left out, or none, for a chart of the type ${type}`);
  }
  const size = asked ?? AUTOMATIC;
  if (size === AUTOMATIC || parseBucketSize(size) !== undefined) return size;
  throw invalidRequest(
    'bucket_size',
    'must be auto or a duration of at most ten years, such as 1m, 2h, 3d, 1mo',
  );
}

/** Returns the query of a chart, in the timezone of its board. */
export function chartQuery(chart: ChartRow, { timezone }: Pick<BoardRow, 'timezone'>): ChartQuery {
  return {
    ...(chart.metrics === null ? {} : { metrics: chart.metrics }),
    split_by: chart.split_by,
    measures: chart.measures,
    timezone,
    bucket_size: chart.bucket_size,
    group_by: chart.group_by,
    filters: chart.filters,
    ...(chart.groups_max === null ? {} : { limit: chart.groups_max }),
    ...(chart.subject_type === null ? {} : { subject_type: chart.subject_type }),
  };
}
