import type { Measure } from '@tollgate/contract';
import { useEffect, useMemo, useRef, useState } from 'react';
import { nowS } from '../../clock.js';
import { usePageVisible } from '../../visibility.js';
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
  const atS = useNowS();
  const isSliding = 'last_seconds' in range;
  return useMemo(() => {
    if (data === undefined) return undefined;
    return isSliding ? current.make(slidTo(data, atS), measure) : current.make(data, measure, atS);
  }, [current, data, measure, isSliding, atS]);
}

function useNowS(): number {
  const [atS, setAtS] = useState(nowS);
  const isVisible = usePageVisible();
  useEffect(() => {
    if (!isVisible) return;
    setAtS(nowS());
    const timer = setInterval(() => setAtS(nowS()), SLIDE_MS);
    return () => clearInterval(timer);
  }, [isVisible]);
  return atS;
}
