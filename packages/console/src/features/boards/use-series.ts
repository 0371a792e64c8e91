import type { Measure } from '@tollgate/contract';
import { useMemo, useState } from 'react';
import { useNowS } from '../../use-now.js';
import { advancedTo, type ChartData } from './chart-data.js';
import { SeriesMaker, type SeriesSet } from './series.js';
import type { TimeRange } from './time-range.js';

/** Interval at which charts move with time. Their shortest bucket is a minute. */
const SLIDE_MS = 5_000;

/** The series of a chart, updated as time passes. */
export function useSeries(
  data: ChartData | undefined,
  measure: Measure,
  range: TimeRange,
): SeriesSet | undefined {
  const [maker] = useState(() => new SeriesMaker());
  const atS = useNowS(SLIDE_MS);
  const isSliding = 'last_seconds' in range;
  return useMemo(() => {
    if (data === undefined) return undefined;
    return isSliding ? maker.make(advancedTo(data, atS), measure) : maker.make(data, measure, atS);
  }, [maker, data, measure, isSliding, atS]);
}
