import {
  AnalysisQuery,
  type ChartQuery,
  STREAM_QUERIES_MAX,
  type StreamQueryString,
} from '@tollgate/contract';
import { ApiError, embeddedJson, invalidRequest, placedAt } from '../../../platform/http/index.js';
import { normalizeQuery } from '../normalize.js';
import type { StreamScope } from './changed-rows.js';

/** What a chart asks, and the range that its board opens with. */
export interface SavedQuery {
  readonly query: ChartQuery;
  readonly defaultRangeS: number;
}

/** Where charts are kept. */
export interface SavedQueries {
  /** By the ids of charts; those that the project does not have are absent. */
  queriesOf(project: StreamScope, chartIds: readonly string[]): Promise<ReadonlyMap<string, SavedQuery>>;
}

const readQuery = embeddedJson(AnalysisQuery);

/**
 * What a URL asks to follow: its queries, then those of its charts, as these are now. They are checked wholly, so that nothing is left
 * to refuse once the stream has begun.
 *
 * @throws ApiError `invalid_request` naming the field; `not_found` for a chart that the project does not have
 */
export async function followedQueries(
  charts: SavedQueries,
  project: StreamScope,
  { query = [], chart_id: chartIds = [], last_seconds: lastSeconds }: StreamQueryString,
  nowS: number,
): Promise<AnalysisQuery[]> {
  const count = query.length + chartIds.length;
  if (count === 0 || count > STREAM_QUERIES_MAX) {
    throw invalidRequest('query', `must be, with chart_id, 1 to ${STREAM_QUERIES_MAX} in all`);
  }
  if (lastSeconds !== undefined && chartIds.length === 0) {
    throw invalidRequest('last_seconds', 'is for chart_id; a query has a time_range of its own');
  }
  const queries = query.map((text, index) => checkedQuery(text, `query[${index}]`, nowS));
  if (chartIds.length === 0) return queries;
  const saved = await charts.queriesOf(project, chartIds);
  for (const chartId of chartIds) {
    const chart = saved.get(chartId);
    if (chart === undefined) throw new ApiError('not_found');
    queries.push({ ...chart.query, time_range: { last_seconds: lastSeconds ?? chart.defaultRangeS } });
  }
  return queries;
}

function checkedQuery(text: string, path: string, nowS: number): AnalysisQuery {
  const query = readQuery(text, path);
  try {
    normalizeQuery(query, nowS);
  } catch (error) {
    throw error instanceof ApiError ? placedAt(path, error) : error;
  }
  return query;
}
