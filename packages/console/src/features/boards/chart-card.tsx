import type { Chart, Measure } from '@tollgate/contract';
import { Ellipsis, Pencil, Table2, Trash2 } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { dateTime } from '../../format.js';
import { IconButton } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { Menu } from '../../ui/menu.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { useChartData } from './api.js';
import { ChartTable } from './chart-table.js';
import { Legend } from './legend.js';
import { MEASURE_LABELS, preferredMeasure } from './measures.js';
import { Plot } from './plot.js';
import { type SeriesSet, seriesOf } from './series.js';
import type { TimeRange } from './time-range.js';

const PLOT_HEIGHT_PX = 208;
export interface ChartCardProps {
  readonly chart: Chart;
  readonly timezone: string;
  readonly range: TimeRange;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
  /** What the card is moved by. */
  readonly handle?: ReactNode;
}

export function ChartCard({ chart, timezone, range, onEdit, onDelete, handle }: ChartCardProps) {
  const data = useChartData(chart.query, timezone, range);
  const [measure, setMeasure] = useState<Measure>(preferredMeasure(chart.measures));
  const [isTable, setTable] = useState(false);
  const [hovered, setHovered] = useState<number>();
  const shown = useMemo(() => data.data && seriesOf(data.data, measure), [data.data, measure]);
  const pointedAt = hovered === undefined ? undefined : shown?.times[hovered];
  return (
    <section
      aria-label={chart.title}
      className="flex h-full flex-col rounded-xl border border-line bg-panel shadow-xs"
    >
      <header className="flex items-center gap-2 py-2.5 pr-2 pl-4">
        {handle}
        <div className="min-w-0 grow">
          <h2 className="truncate text-[13px] font-semibold" title={chart.description ?? undefined}>
            {chart.title}
          </h2>
          <p className="tabular h-4 truncate text-xs text-ink-faint">
            {pointedAt === undefined ? bucketNote(data.data?.bucket_size) : dateTime(pointedAt, timezone)}
          </p>
        </div>
        <Measures measures={chart.measures} chosen={measure} onChoose={setMeasure} />
        <Menu
          trigger={
            <IconButton label={`More about ${chart.title}`}>
              <Ellipsis size={16} />
            </IconButton>
          }
          items={[
            {
              label: isTable ? 'View as chart' : 'View as table',
              icon: <Table2 size={14} />,
              onSelect: () => setTable(!isTable),
            },
            { label: 'Edit', icon: <Pencil size={14} />, onSelect: onEdit },
            { label: 'Delete', icon: <Trash2 size={14} />, isDangerous: true, onSelect: onDelete },
          ]}
        />
      </header>
      {data.isError ? (
        <div className="p-4 pt-0">
          <FailureNote error={data.error} onRetry={() => void data.refetch()} />
        </div>
      ) : (
        <Body
          chart={chart}
          shown={shown}
          isTable={isTable}
          timezone={timezone}
          hovered={hovered}
          onHover={setHovered}
        />
      )}
    </section>
  );
}

interface BodyProps {
  readonly chart: Chart;
  readonly shown: SeriesSet | undefined;
  readonly isTable: boolean;
  readonly timezone: string;
  readonly hovered: number | undefined;
  readonly onHover: (index: number | undefined) => void;
}

function Body({ chart, shown, isTable, timezone, hovered, onHover }: BodyProps) {
  if (shown === undefined) return <Skeleton className="mx-4 mb-4 h-64" />;
  if (shown.series.length === 0) {
    return (
      <div className="flex h-64 items-center justify-center px-6 pb-4 text-center text-[13px] text-ink-faint">
        No usage of {chart.metrics.join(', ')} in this range.
      </div>
    );
  }
  if (isTable) return <ChartTable data={shown} timezone={timezone} />;
  return (
    <>
      <div className="px-2">
        <Plot
          type={chart.chart_type}
          data={shown}
          timezone={timezone}
          syncKey={chart.board_id}
          height={PLOT_HEIGHT_PX}
          onHover={onHover}
        />
      </div>
      <Legend series={shown.series} hovered={hovered} />
    </>
  );
}

function Measures({
  measures,
  chosen,
  onChoose,
}: {
  readonly measures: readonly Measure[];
  readonly chosen: Measure;
  readonly onChoose: (measure: Measure) => void;
}) {
  if (measures.length < 2) return null;
  return (
    <fieldset aria-label="Measure" className="flex rounded-md bg-sunken p-0.5">
      {measures.map((measure) => (
        <button
          key={measure}
          type="button"
          aria-pressed={measure === chosen}
          onClick={() => onChoose(measure)}
          className={classes(
            'rounded-sm px-2 py-0.5 text-xs',
            measure === chosen ? 'bg-panel font-medium shadow-xs' : 'text-ink-soft hover:text-ink',
          )}
        >
          {MEASURE_LABELS[measure]}
        </button>
      ))}
    </fieldset>
  );
}

function bucketNote(size: string | undefined): string {
  return size === undefined ? '' : `per ${size}`;
}
