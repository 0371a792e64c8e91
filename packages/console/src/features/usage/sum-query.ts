import type { AnalysisQuery } from '@tollgate/contract';
import { conditionsOf, type EventQuery } from './filters.js';

/** The filters as an analysis query; undefined if no query can express them, or if it would read all history. */
export function sumQuery(eventQuery: EventQuery, atS: number): AnalysisQuery | undefined {
  const {
    from,
    to = atS + 1,
    status,
    metric,
    currency: _,
    filters,
    subject_type,
    subject_id,
    ...rest
  } = eventQuery;
  const isMore = Object.values(rest).some((value) => value !== undefined);
  if (from === undefined || from >= to || isMore) return undefined;
  // Only processed events have charge items.
  if (status !== undefined && status !== 'processed') return undefined;
  return {
    ...(metric === undefined || metric.length === 0 ? {} : { metrics: metric }),
    split_by: [],
    measures: ['item_count', 'amount'],
    time_range: { from, to },
    bucket_size: 'none',
    filters: conditionsOf(filters ?? ''),
    ...(subject_type === undefined ? {} : { subject_type }),
    ...(subject_id === undefined ? {} : { subject_id }),
  };
}
