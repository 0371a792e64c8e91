import type { Measure } from '@tollgate/contract';
import { useMemo, useState } from 'react';
import { useNowS } from '../../use-now.js';
import { type ChartData, slidTo } from './chart-data.js';
import { SeriesMaker, type SeriesSet } from './series.js';
import type { TimeRange } from './time-range.js';

/** How often a chart moves on with time by itself: its shortest bucket is a minute. */
const SLIDE_MS = 5_000;

/** What is drawn of the data of a chart, as time goes on. */
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
    return isSliding ? maker.make(slidTo(data, atS), measure) : maker.make(data, measure, atS);
  }, [maker, data, measure, isSliding, atS]);
}
