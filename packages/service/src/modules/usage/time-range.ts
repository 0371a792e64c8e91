import type { AnalysisTimeRange } from '@tollgate/contract';
import { invalidRequest } from '../../kernel/errors.js';

/** A span of `occurred_at` in Unix seconds: `from` inclusive, `to` exclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the span of a `time_range`.
 * @throws DomainError `invalid_request` naming the field
 */
export function resolveTimeRange(range: AnalysisTimeRange, nowS: number): TimeRange {
  const { from, to, last_seconds: lastSeconds } = range;
  if (lastSeconds !== undefined) {
    if (from !== undefined || to !== undefined) {
      throw invalidRequest('time_range', 'must have either from and to, or last_seconds');
    }
    // The current second has begun: it is the last one of the span.
    return { from: Math.max(0, nowS + 1 - lastSeconds), to: nowS + 1 };
  }
  if (from === undefined || to === undefined) {
    const missing = from === undefined ? 'from' : 'to';
    throw invalidRequest(`time_range.${missing}`, 'is required, unless last_seconds is given');
  }
  if (to <= from) throw invalidRequest('time_range.to', 'must be after from');
  return { from, to };
}
