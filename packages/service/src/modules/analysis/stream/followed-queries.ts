import { type AnalysisQuery, type ChartQuery, STREAM_QUERIES_MAX } from '@tollgate/contract';
import { DomainError, invalidRequest } from '../../../kernel/errors.js';
import type { StreamScope } from './changed-rows.js';

/** The query of a chart, and the range that its board opens with. */
export interface SavedQuery {
  readonly query: ChartQuery;
  readonly defaultRangeS: number;
}

/** The source of saved charts. */
export interface SavedQueries {
  /** Returns queries by chart id; charts that the project does not have are absent. */
  queriesOf(project: StreamScope, chartIds: readonly string[]): Promise<ReadonlyMap<string, SavedQuery>>;
}

/** The queries and charts to follow, as a URL names them. */
export interface StreamRequest {
  readonly queries: readonly AnalysisQuery[];
  readonly chartIds: readonly string[];
  /** The range of every chart; undefined for that of its board. */
  readonly lastSeconds: number | undefined;
}

/**
 * Returns the queries, then those of the charts, as these are now.
 * @throws DomainError `invalid_request` naming the field; `not_found` for a chart that the project does not have
 */
export async function followedQueries(
  charts: SavedQueries,
  project: StreamScope,
  { queries, chartIds, lastSeconds }: StreamRequest,
): Promise<AnalysisQuery[]> {
  const count = queries.length + chartIds.length;
  if (count === 0 || count > STREAM_QUERIES_MAX) {
    throw invalidRequest('query', `expected 1 to ${STREAM_QUERIES_MAX} queries and chart_ids together`);
  }
  if (lastSeconds !== undefined && chartIds.length === 0) {
    throw invalidRequest('last_seconds', 'applies to chart_id only; a query has its own time_range');
  }
  if (chartIds.length === 0) return [...queries];
  const saved = await charts.queriesOf(project, chartIds);
  const ofCharts = chartIds.map((chartId) => {
    const chart = saved.get(chartId);
    if (chart === undefined) throw new DomainError('not_found');
    return { ...chart.query, time_range: { last_seconds: lastSeconds ?? chart.defaultRangeS } };
  });
  return [...queries, ...ofCharts];
}
