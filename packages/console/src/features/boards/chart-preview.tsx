import { type ChartQuery, type ChartType, isOfTotals } from '@tollgate/contract';
import { useState } from 'react';
import { nowS } from '../../clock.js';
import { Skeleton } from '../../ui/states.js';
import { useChartData } from './api.js';
import { ChartFailure, ChartWarnings, NoUsage } from './chart-states.js';
import { ChartView } from './chart-view.js';
import { Hover } from './hover.js';
import { preferredMeasure } from './measures.js';
import type { TimeRange } from './time-range.js';
import { TotalsView } from './totals-view.js';
import { UpdateBuffer } from './update-buffer.js';
import { usePrevious } from './use-previous.js';
import { useSeries } from './use-series.js';

const HEIGHT_PX = 260;

export interface ChartPreviewProps {
  /** Undefined while the draft is incomplete. */
  readonly query: ChartQuery | undefined;
  readonly type: ChartType;
  readonly isCompared: boolean;
  readonly timezone: string;
  readonly range: TimeRange;
}

export function ChartPreview({ query, ...rest }: ChartPreviewProps) {
  return (
    <section aria-label="Preview" className="min-h-96 rounded-lg border border-line bg-page pt-3">
      {query === undefined ? (
        <p className="flex h-72 items-center justify-center text-[13px] text-ink-faint">
          Choose a metric and a measure to preview the chart.
        </p>
      ) : (
        <Preview query={query} {...rest} />
      )}
    </section>
  );
}

function Preview({
  query,
  type,
  isCompared,
  timezone,
  range,
}: ChartPreviewProps & { readonly query: ChartQuery }) {
  const [updates] = useState(() => new UpdateBuffer());
  const [hover] = useState(() => new Hover());
  const data = useChartData({ query, timezone, range, updates });
  const measure = preferredMeasure(query.measures ?? [], query.limit !== undefined);
  const set = useSeries(data.data, measure, range);
  const previous = usePrevious({ query: isCompared ? query : undefined, timezone, range, updates, measure });
  if (data.isError) return <ChartFailure of={data} />;
  if (set === undefined || data.data === undefined) return <Skeleton className="mx-4 h-80" />;
  if (set.series.length === 0)
    return <NoUsage metrics={query.metrics} isUnpriced={data.data.rows.size > 0} onWiden={undefined} />;
  return (
    <>
      {isOfTotals(type) ? (
        <TotalsView
          title="Preview"
          data={data.data}
          links={undefined}
          {...{ type, set, measure, previous }}
        />
      ) : (
        <ChartView
          {...{ type, set, measure, timezone, hover }}
          untilS={'to' in range && range.to > nowS() ? range.to : undefined}
          syncKey="preview"
          height={HEIGHT_PX}
        />
      )}
      <ChartWarnings warnings={data.data.warnings} />
    </>
  );
}
