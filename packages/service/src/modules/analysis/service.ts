import type { AnalysisQuery, AnalysisResult } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { answeredGroupBy, type NormalizedQuery, normalizeQuery } from './normalize.js';
import type { AnalysisScope, PlannedQuery } from './query-sql.js';
import { planSources } from './source.js';
import { analysisRows } from './store.js';

/** Rollups are summed over the subjects of one type. */
const EVENTS_ONLY = 'subject_id';

/**
 * Answers an analysis query.
 * @throws ApiError `invalid_request` naming the field
 */
export async function analyze(
  clickhouse: Pick<ClickHouse, 'query'>,
  clock: Clock,
  scope: AnalysisScope,
  query: AnalysisQuery,
): Promise<AnalysisResult> {
  const normalized = normalizeQuery(query, unixSeconds(clock));
  const found = await analysisRows(clickhouse, scope, planQuery(normalized, scope));
  return {
    bucket_size: normalized.buckets.text,
    timezone: normalized.timezone,
    from: normalized.from,
    to: normalized.to,
    measures: [...normalized.measures],
    group_by: answeredGroupBy(normalized),
    rows: found.slice(0, normalized.rowsMax),
    truncated: found.length > normalized.rowsMax,
  };
}

/**
 * Decides where the numbers are read: every source gives the same, the rollups sooner. Before `retainedFrom`, the start of a
 * day in UTC, nothing is read.
 */
export function planQuery(
  query: NormalizedQuery,
  { retainedFrom, rawOnly }: Pick<AnalysisScope, 'retainedFrom' | 'rawOnly'>,
): PlannedQuery {
  const { metrics, measures, dimensions, filters, groupsMax, rowsMax } = query;
  const named = new Set([...dimensions, ...filters.map(([name]) => name)]);
  const bucketStarts = query.buckets.starts;
  const sources = planSources(
    Math.max(query.from, retainedFrom),
    query.to,
    bucketStarts,
    named.has(EVENTS_ONLY),
  );
  return {
    metrics,
    measures,
    dimensions,
    filters,
    sources,
    rawOnly: rawOnly.filter((name) => named.has(name)),
    bucketStarts,
    groupsMax,
    rowsMax,
  };
}
