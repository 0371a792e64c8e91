import type { ChartQuery, Measure } from '@tollgate/contract';
import { useMemo } from 'react';
import { useNowS } from '../../use-now.js';
import { useChartData } from './api.js';
import type { TimeRange } from './time-range.js';
import { type PreviousTotals, previousRange } from './totals.js';
import type { UpdateBuffer } from './update-buffer.js';
import { useSeries } from './use-series.js';

/** Interval at which the period before moves with time: it has ended, so late events are all that changes it. */
const MOVE_MS = 60_000;

/** The totals of the period before the range. Undefined until they have arrived, and without a query. */
export function usePrevious({
  query,
  timezone,
  range,
  updates,
  measure,
}: {
  /** Undefined for no comparison. */
  readonly query: ChartQuery | undefined;
  readonly timezone: string;
  readonly range: TimeRange;
  readonly updates: UpdateBuffer;
  readonly measure: Measure;
}): PreviousTotals | undefined {
  const atS = useNowS(MOVE_MS);
  const before = useMemo(() => previousRange(range, atS, timezone), [range, atS, timezone]);
  const { data } = useChartData({ query, timezone, range: before, updates });
  const set = useSeries(data, measure, before);
  return useMemo(
    () => (data === undefined || set === undefined || query === undefined ? undefined : { data, set }),
    [data, set, query],
  );
}
