import {
  automaticBucket,
  bucketStarts,
  formatBucketSize,
  parseBucketSize,
  raiseBucket,
} from '../../kernel/bucket.js';
import { invalidRequest } from '../../platform/http/index.js';

/** How a range is cut into points. */
export interface Bucketing {
  /** As answered: `none`, or a duration. */
  readonly text: string;
  /** Start of every bucket that touches the range, ascending, Unix seconds; empty for totals. */
  readonly starts: readonly number[];
}

const AUTOMATIC = 'auto';
const TOTALS = 'none';

/**
 * The buckets of a query: those asked for, raised when they are too many to draw.
 * @throws ApiError `invalid_request` for text that is no bucket size
 */
export function chooseBuckets(asked = AUTOMATIC, from: number, to: number, timezone: string): Bucketing {
  if (asked === TOTALS) return { text: TOTALS, starts: [] };
  const askedS = asked === AUTOMATIC ? automaticBucket(from, to, timezone) : parseBucketSize(asked);
  if (askedS === undefined) {
    throw invalidRequest('bucket_size', 'must be auto, none, or a positive duration such as 1m, 2h, 3d');
  }
  const sizeS = raiseBucket(askedS, from, to, timezone);
  return { text: formatBucketSize(sizeS), starts: bucketStarts(from, to, sizeS, timezone) };
}
