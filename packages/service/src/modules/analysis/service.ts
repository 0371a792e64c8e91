import type { AnalysisQuery, AnalysisResult } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { ProjectHistory } from '../storage/index.js';
import { isInEventsOnly, needsEvents } from './measure-sql.js';
import { type NormalizedQuery, normalizeQuery, resultGroupBy, resultSplitBy } from './normalize.js';
import { type AnalysisScope, namesOf, type PlannedQuery } from './planned-query.js';
import { planSources } from './source.js';
import { analysisRows } from './store.js';

/**
 * Returns the result of an analysis query.
 * @throws DomainError `invalid_request` naming the field; `unlike_units`
 */
export async function analyze(
  clickhouse: Pick<ClickHouse, 'query'>,
  clock: Clock,
  scope: AnalysisScope,
  query: AnalysisQuery,
): Promise<Omit<AnalysisResult, 'warnings'>> {
  const normalized = normalizeQuery(query, unixSeconds(clock));
  const { rows, addedUnits } = await analysisRows(
    new ProjectHistory(clickhouse, scope),
    planQuery(normalized, scope),
  );
  refuseUnlikeUnits(addedUnits);
  return {
    bucket_size: normalized.buckets.text,
    timezone: normalized.timezone,
    from: normalized.from,
    to: normalized.to,
    measures: [...normalized.measures],
    split_by: resultSplitBy(normalized),
    group_by: resultGroupBy(normalized),
    rows: rows.slice(0, normalized.rowsMax),
    truncated: rows.length > normalized.rowsMax,
  };
}

/** Refuses to add up different units, such as tokens and seconds. */
function refuseUnlikeUnits(units: readonly string[]): void {
  if (units.length < 2) return;
  const names = units.map((unit) => (unit === '' ? 'none' : unit)).join(', ');
  const remedy = `choose other measures than those of quantities, split by metric (split_by: ["metric"]), or choose metrics with the same unit`;
  throw new DomainError('unlike_units', {
    message: `Quantities with different units (${names}) cannot be added up or compared: ${remedy}.`,
    details: [{ path: 'measures', message: `must not include measures of quantities for units ${names}` }],
  });
}

/**
 * Decides which sources are read: all give the same sums, the rollups faster. Nothing is read before `retainedFrom`,
 * the start of a day in UTC.
 */
export function planQuery(
  query: NormalizedQuery,
  { retainedFrom, excludedDimensions }: Pick<AnalysisScope, 'retainedFrom' | 'excludedDimensions'>,
): PlannedQuery {
  const { metrics, splitsMetrics, measures, dimensions, filters, groupsMax, rowsMax } = query;
  const named = namesOf(query);
  const bucketStarts = query.buckets.starts;
  const sources = planSources(
    Math.max(query.from, retainedFrom),
    query.to,
    bucketStarts,
    measures.some(needsEvents) || named.some(isInEventsOnly),
  );
  return {
    metrics,
    splitsMetrics,
    measures,
    dimensions,
    filters,
    sources,
    excludedDimensions: excludedDimensions.filter((name) => named.includes(name)),
    bucketStarts,
    groupsMax,
    rowsMax,
  };
}
