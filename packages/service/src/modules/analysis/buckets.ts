import {
  automaticBucket,
  bucketStarts,
  formatBucketSize,
  parseBucketSize,
  raiseBucket,
} from '../../kernel/bucket.js';
import { invalidRequest } from '../../kernel/errors.js';

/** How a range is cut into points. */
export interface Bucketing {
  /** The text in responses: `none`, or a duration. */
  readonly text: string;
  /** Start of every bucket that touches the range, ascending, Unix seconds; empty for totals. */
  readonly starts: readonly number[];
}

const AUTOMATIC = 'auto';
const TOTALS = 'none';

/**
 * Returns the buckets of a query, raised when there are too many to draw.
 * @throws DomainError `invalid_request` for text that is not a bucket size
 */
export function chooseBuckets(asked = AUTOMATIC, from: number, to: number, timezone: string): Bucketing {
  if (asked === TOTALS) return { text: TOTALS, starts: [] };
  const wanted = asked === AUTOMATIC ? automaticBucket(from, to, timezone) : parseBucketSize(asked);
  if (wanted === undefined) {
    throw invalidRequest(
      'bucket_size',
      'must be auto, none, or a duration of at most ten years, such as 1m, 2h, 3d, 1mo',
    );
  }
  const size = raiseBucket(wanted, from, to, timezone);
  return { text: formatBucketSize(size), starts: bucketStarts(from, to, size, timezone) };
}
