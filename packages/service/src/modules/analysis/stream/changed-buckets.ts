import type { AnalysisQuery } from '@tollgate/contract';
import type { NormalizedQuery } from '../normalize.js';
import { addsUnits } from '../planned-query.js';
import type { TimeSpan } from '../source.js';

/** Buckets that follow each other, and the part of the query's range that they hold. */
export interface BucketRun extends TimeSpan {
  /** Null for totals. */
  readonly starts: readonly (number | null)[];
}

/** Upper bound of runs; more are read as one. */
const RUNS_MAX = 4;

/**
 * The buckets of a query whose rows may differ after charge items came in at these times; none when all lie
 * outside its range.
 *
 * A limit can show other groups, or other rows, anywhere in the range as soon as anything changes, so such a
 * query is read whole; so is one that adds up quantities, because usage of another unit anywhere makes it one
 * that is refused. A sliding range cuts its first bucket, which loses the usage that the range has moved past:
 * that bucket is included.
 */
export function changedBuckets(
  query: AnalysisQuery,
  normalized: NormalizedQuery,
  spans: readonly TimeSpan[],
): BucketRun[] {
  const {
    from,
    to,
    buckets: { starts },
  } = normalized;
  const within = spans.filter((span) => span.from < to && span.to > from);
  if (within.length === 0) return [];
  if (starts.length === 0) return [{ from, to, starts: [null] }];
  if (query.limit !== undefined || addsUnits(normalized)) return [{ from, to, starts }];
  const slides = query.time_range.last_seconds !== undefined;
  const runs: { from: number; to: number; starts: number[] }[] = [];
  let isOpen = false;
  for (const [index, start] of starts.entries()) {
    const bucket = { from: Math.max(start, from), to: Math.min(starts[index + 1] ?? to, to) };
    const isChanged =
      (slides && start < from) || within.some((span) => span.from < bucket.to && span.to > bucket.from);
    const run = runs.at(-1);
    if (isChanged && isOpen && run !== undefined) {
      run.to = bucket.to;
      run.starts.push(start);
    } else if (isChanged) runs.push({ ...bucket, starts: [start] });
    isOpen = isChanged;
  }
  const [first, last] = [runs[0], runs.at(-1)];
  if (runs.length <= RUNS_MAX || first === undefined || last === undefined) return runs;
  return [
    {
      from: first.from,
      to: last.to,
      starts: starts.filter((start) => start >= (first.starts[0] ?? start) && start < last.to),
    },
  ];
}
