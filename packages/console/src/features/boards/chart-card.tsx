import { type Chart, isOfTotals, type Measure } from '@tollgate/contract';
import { type ReactNode, useRef, useState } from 'react';
import { nowS } from '../../clock.js';
import { dateMinute } from '../../format.js';
import { Skeleton } from '../../ui/states.js';
import { useSeen } from '../../visibility.js';
import { useChartData } from './api.js';
import { bucketLabel } from './buckets.js';
import type { ChartData } from './chart-data.js';
import { type ChartAction, ChartMenu } from './chart-menu.js';
import { ChartFailure, ChartWarnings, NoUsage } from './chart-states.js';
import { ChartTable } from './chart-table.js';
import { ChartView } from './chart-view.js';
import { type EventLinks, useEventLinks } from './event-links.js';
import { Hover, HoverText } from './hover.js';
import { MeasureChoice } from './measure-choice.js';
import { preferredMeasure } from './measures.js';
import { nameLabel } from './metrics.js';
import type { SeriesSet } from './series.js';
import type { TimeRange } from './time-range.js';
import type { PreviousTotals } from './totals.js';
import { TotalsView } from './totals-view.js';
import type { UpdateBuffer } from './update-buffer.js';
import { usePrevious } from './use-previous.js';
import { useSeries } from './use-series.js';

const PLOT_HEIGHT_PX = 208;

export interface ChartCardProps {
  readonly chart: Chart;
  /** The dimension on which its filter and that of the board exclude each other. */
  readonly conflict: string | undefined;
  readonly timezone: string;
  readonly range: TimeRange;
  readonly isFollowed: boolean;
  readonly updates: UpdateBuffer;
  /** Undefined if the key may not change boards. */
  readonly onDo: ((action: ChartAction) => void) | undefined;
  readonly onRange: (range: TimeRange) => void;
  /** The drag handle of the card. */
  readonly handle?: ReactNode;
}

export function ChartCard(props: ChartCardProps) {
  const { chart, conflict, timezone, range, isFollowed, updates, handle, onDo, onRange } = props;
  const card = useRef<HTMLElement>(null);
  const isSeen = useSeen(card);
  const query = isSeen && conflict === undefined ? chart.query : undefined;
  const data = useChartData({ query, timezone, range, isFollowed, updates });
  const [chosen, setMeasure] = useState<Measure>();
  // Those of the rows that are shown: a chart that was edited may measure something else.
  const measures = data.data?.measures ?? chart.measures;
  const isKept = chosen !== undefined && measures.includes(chosen);
  const measure = isKept ? chosen : preferredMeasure(measures, chart.limit !== null);
  const [isTable, setTable] = useState(false);
  const [hover] = useState(() => new Hover());
  const set = useSeries(data.data, measure, range);
  const compared = chart.comparison === null ? undefined : query;
  const previous = usePrevious({ query: compared, timezone, range, updates, measure });
  const links = useEventLinks({ query: chart.query, data: data.data, measure }, set);
  return (
    <section
      ref={card}
      aria-label={chart.title}
      className="flex h-full flex-col rounded-xl border border-line bg-panel shadow-xs"
    >
      <header className="flex flex-wrap items-center gap-2 py-2.5 pr-2 pl-4 sm:flex-nowrap">
        {handle}
        <div className="min-w-0 grow">
          <h2 className="truncate text-[13px] font-semibold" title={chart.description ?? undefined}>
            {chart.title}
          </h2>
          <p className="tabular h-4 truncate text-xs text-ink-faint">
            <HoverText
              hover={hover}
              textOf={(index, series) =>
                momentNote(chart, data.data, set, index) + eventsNote(set, links, index, series)
              }
            />
          </p>
        </div>
        <div className="order-last basis-full empty:hidden sm:order-none sm:basis-auto">
          <MeasureChoice measures={measures} chosen={measure} onChoose={setMeasure} />
        </div>
        <ChartMenu
          {...{ chart, timezone, range, card, set, isTable, onDo }}
          note={momentNote(chart, data.data, set, undefined)}
          onTable={() => setTable(!isTable)}
        />
      </header>
      {conflict !== undefined ? (
        <FilterConflict name={conflict} />
      ) : data.isError ? (
        <ChartFailure of={data} />
      ) : (
        <Body
          {...{ chart, set, previous, measure, isTable, timezone, range, hover, links, onRange }}
          data={data.data}
        />
      )}
      {data.data !== undefined && <ChartWarnings warnings={data.data.warnings} />}
      {data.data?.isTruncated === true && (
        <p className="px-4 pb-3 text-xs text-warn">
          There is too much data to draw. Choose a shorter range or show only the top groups.
        </p>
      )}
    </section>
  );
}

function FilterConflict({ name }: { readonly name: string }) {
  return (
    <p className="flex h-72 items-center justify-center px-6 pb-4 text-center text-[13px] text-ink-soft">
      This chart has a filter on {nameLabel(name)} that cannot be combined with the filter of the board.
    </p>
  );
}

interface BodyProps extends Pick<ChartCardProps, 'chart' | 'timezone' | 'range' | 'onRange'> {
  readonly data: ChartData | undefined;
  readonly set: SeriesSet | undefined;
  readonly previous: PreviousTotals | undefined;
  readonly measure: Measure;
  readonly isTable: boolean;
  readonly hover: Hover;
  readonly links: EventLinks | undefined;
}

function Body({ chart, data, set, previous, isTable, range, onRange, ...shown }: BodyProps) {
  const { measure, timezone, hover, links } = shown;
  if (data === undefined || set === undefined) return <Skeleton className="mx-4 mb-4 h-72" />;
  if (set.series.length === 0)
    return <NoUsage metrics={chart.metrics ?? undefined} isUnpriced={data.rows.size > 0} onWiden={onRange} />;
  const { chart_type: type, title } = chart;
  if (isOfTotals(type)) return <TotalsView {...{ type, title, data, set, measure, previous, links }} />;
  if (isTable) return <ChartTable {...{ title, set, timezone, links }} />;
  return (
    <ChartView
      {...{ type, set, measure, timezone, hover, links }}
      untilS={'to' in range && range.to > nowS() ? range.to : undefined}
      syncKey={chart.board_id}
      height={PLOT_HEIGHT_PX}
    />
  );
}

/** A note that a click opens the events under the pointer. */
function eventsNote(
  set: SeriesSet | undefined,
  links: EventLinks | undefined,
  index: number | undefined,
  series: string | undefined,
): string {
  const one = set?.series.find(({ key }) => key === series);
  if (one === undefined || index === undefined || links?.ofBucket(one, index) === undefined) return '';
  return ` · click to view events of ${one.label}`;
}

/** The bucket at the pointer or, without one, the length of the buckets. */
function momentNote(
  { chart_type: type, comparison }: Chart,
  data: ChartData | undefined,
  set: SeriesSet | undefined,
  index: number | undefined,
): string {
  if (data === undefined || set === undefined) return '';
  if (isOfTotals(type)) return comparison === null ? 'Totals' : 'Totals, compared with the period before';
  const { timezone, bucketSize } = data;
  const time = index === undefined ? undefined : set.times[index];
  if (time === undefined) return `${bucketLabel(bucketSize)} intervals, ${timezone}`;
  const isFirst = index === 0 && set.isFirstPartial;
  const isLast = index === set.times.length - 1 && set.isLastPartial;
  return `${dateMinute(time, timezone)}${isFirst ? ' · partial' : ''}${isLast ? ' · in progress' : ''}`;
}
