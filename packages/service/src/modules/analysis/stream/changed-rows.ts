import { type AnalysisQuery, STREAM_ROWS_MAX, type StreamBuckets } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/errors.js';
import type { ClickHouse } from '../../../platform/clickhouse/index.js';
import { type StorageScope, storageTables, type UsageHistory } from '../../storage/index.js';
import { normalizeQuery } from '../normalize.js';
import { analyze } from '../service.js';
import type { TimeSpan } from '../source.js';
import { changedBuckets } from './changed-buckets.js';

/** The project whose usage is read. Every query is confined to it. */
export type StreamScope = StorageScope;

/** The update of one query: new rows, nothing, or a request to query again, if rows cannot express the change. */
export type ChangedRows = Omit<StreamBuckets, 'query'> | 'nothing' | 'query-again';

export interface ChangedRowsDeps {
  readonly clickhouse: Pick<ClickHouse, 'upToDate'>;
  readonly clock: Clock;
  readonly history: UsageHistory;
}

/** Returns the rows of all buckets of a query that may have changed, as the query itself would return them now. */
export async function changedRows(
  { clickhouse, clock, history }: ChangedRowsDeps,
  project: StreamScope,
  query: AnalysisQuery,
  spans: readonly TimeSpan[],
): Promise<ChangedRows> {
  const normalized = normalizeQuery(query, unixSeconds(clock));
  const runs = changedBuckets(query, normalized, spans);
  if (runs.length === 0) return 'nothing';
  const bucketSize = normalized.buckets.text;
  const scope = await history.scopeOf(project);
  // The change was recorded after its insert, and is sent once: a replica that lacks the rows must fetch them.
  const reader = await clickhouse.upToDate(Object.values(storageTables(project)));
  const rows: StreamBuckets['rows'] = [];
  for (const { from, to } of runs) {
    // The bucket size is given explicitly, so that a part of the range has the same buckets as the whole range.
    const part = { ...query, time_range: { from, to }, bucket_size: bucketSize };
    const answer = await analyze(reader, clock, scope, part).catch(refusal);
    if (answer === undefined) return 'query-again';
    // A query with a limit of its own leaves out rows for every client.
    if (answer.truncated && query.limit === undefined) return 'query-again';
    if (rows.length + answer.rows.length > STREAM_ROWS_MAX) return 'query-again';
    rows.push(...answer.rows);
  }
  const { from, to } = normalized;
  return { bucket_size: bucketSize, from, to, buckets: runs.flatMap(({ starts }) => starts), rows };
}

/** Handles usage of another unit, which the next full query reports. @throws any other error */
function refusal(error: unknown): undefined {
  if (error instanceof DomainError && error.code === 'unlike_units') return;
  throw error;
}
