import type { ChartQuery, Measure } from '@tollgate/contract';
import { useMemo, useState } from 'react';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { useChartData } from './api.js';
import { Legend } from './legend.js';
import { preferredMeasure } from './measures.js';
import { Plot, type PlotType } from './plot.js';
import { type SeriesSet, seriesOf } from './series.js';
import type { TimeRange } from './time-range.js';

const HEIGHT_PX = 260;

export interface ChartPreviewProps {
  /** Whether there is anything to ask for yet. */
  readonly isComplete: boolean;
  readonly query: ChartQuery;
  readonly type: PlotType;
  readonly timezone: string;
  readonly range: TimeRange;
}

export function ChartPreview({ isComplete, ...rest }: ChartPreviewProps) {
  return (
    <section aria-label="Preview" className="min-h-80 rounded-lg border border-line bg-page pt-3">
      {isComplete ? (
        <Preview {...rest} />
      ) : (
        <p className="flex h-72 items-center justify-center text-[13px] text-ink-faint">
          Choose a metric to see the chart here.
        </p>
      )}
    </section>
  );
}

function Preview({ query, type, timezone, range }: Omit<ChartPreviewProps, 'isComplete'>) {
  const data = useChartData(query, timezone, range);
  const measure: Measure = preferredMeasure(query.measures ?? []);
  const [hovered, setHovered] = useState<number>();
  const shown = useMemo(() => data.data && seriesOf(data.data, measure), [data.data, measure]);
  if (data.isError) {
    return (
      <div className="p-4">
        <FailureNote error={data.error} />
      </div>
    );
  }
  if (shown === undefined) return <Skeleton className="mx-4 h-64" />;
  return <Drawn type={type} shown={shown} timezone={timezone} hovered={hovered} onHover={setHovered} />;
}

function Drawn({
  type,
  shown,
  timezone,
  hovered,
  onHover,
}: {
  readonly type: PlotType;
  readonly shown: SeriesSet;
  readonly timezone: string;
  readonly hovered: number | undefined;
  readonly onHover: (index: number | undefined) => void;
}) {
  if (shown.series.length === 0) {
    return (
      <p className="flex h-72 items-center justify-center text-[13px] text-ink-faint">
        Nothing like this in the range.
      </p>
    );
  }
  return (
    <>
      <div className="px-2">
        <Plot
          type={type}
          data={shown}
          timezone={timezone}
          syncKey="preview"
          height={HEIGHT_PX}
          onHover={onHover}
        />
      </div>
      <Legend series={shown.series} hovered={hovered} />
    </>
  );
}
