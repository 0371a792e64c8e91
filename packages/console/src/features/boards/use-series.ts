import type { Measure } from '@tollgate/contract';
import { useMemo, useRef } from 'react';
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
  const maker = useRef<SeriesMaker>(undefined);
  maker.current ??= new SeriesMaker();
  const { current } = maker;
  const atS = useNowS(SLIDE_MS);
  const isSliding = 'last_seconds' in range;
  return useMemo(() => {
    if (data === undefined) return undefined;
    return isSliding ? current.make(slidTo(data, atS), measure) : current.make(data, measure, atS);
  }, [current, data, measure, isSliding, atS]);
}
