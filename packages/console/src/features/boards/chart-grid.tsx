import { arrayMove, rectSortingStrategy } from '@dnd-kit/sortable';
import type { Board, Chart } from '@tollgate/contract';
import { useState } from 'react';
import { classes } from '../../ui/classes.js';
import { SortableArea, useSortableItem } from '../../ui/sortable.js';
import { useBoardChanges } from './api.js';
import type { FilteredChart } from './board-filters.js';
import type { BoardStream } from './board-stream.js';
import { ChartCard } from './chart-card.js';
import type { ChartAction } from './chart-menu.js';
import type { TimeRange } from './time-range.js';
import type { UpdateBuffer } from './update-buffer.js';

export interface ChartGridProps {
  readonly board: Board;
  readonly charts: readonly FilteredChart[];
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  readonly stream: BoardStream;
  readonly updates: UpdateBuffer;
  /** Undefined if the key may not change boards. */
  readonly onDo: ((action: ChartAction, chart: Chart) => void) | undefined;
}

/** The charts in their order, two in a row on wide screens. They are sorted by pointer or keyboard. */
export function ChartGrid({ charts, ...rest }: ChartGridProps) {
  const { board } = rest;
  const { reorder } = useBoardChanges();
  // Keeps the new order until the service has saved it.
  const [moved, setMoved] = useState<readonly string[]>();
  const shown = inOrder(charts, moved);
  const items = shown.map(({ chart: { chart_id, title } }) => ({ id: chart_id, name: title }));
  const onMove = (from: number, to: number) => {
    const order = arrayMove(
      items.map(({ id }) => id),
      from,
      to,
    );
    setMoved(order);
    reorder.mutate(
      { id: board.report_id, body: { order: order.map((chart_id, position) => ({ chart_id, position })) } },
      { onSettled: () => setMoved(undefined) },
    );
  };
  return (
    <SortableArea items={items} strategy={rectSortingStrategy} onMove={onMove}>
      <div className="grid gap-4 px-4 pb-10 sm:px-6 xl:grid-cols-2">
        {shown.map(({ chart, conflict }) => (
          <SortableChart key={chart.chart_id} {...{ chart, conflict }} {...rest} />
        ))}
      </div>
    </SortableArea>
  );
}

function SortableChart({
  board,
  chart,
  conflict,
  range,
  onRange,
  stream,
  updates,
  onDo,
}: Omit<ChartGridProps, 'charts'> & FilteredChart) {
  const { ref, style, isDragging, handle } = useSortableItem({ id: chart.chart_id, name: chart.title });
  return (
    <div
      ref={ref}
      style={style}
      className={classes(
        'min-w-0',
        chart.size === 'full' && 'xl:col-span-2',
        isDragging && 'z-10 opacity-80',
      )}
    >
      <ChartCard
        chart={chart}
        conflict={conflict}
        timezone={board.timezone}
        range={range}
        isFollowed={stream.followed.has(chart.chart_id)}
        updates={updates}
        handle={onDo === undefined ? undefined : <div className="-my-1 -ml-2.5">{handle}</div>}
        onDo={onDo && ((action) => onDo(action, chart))}
        onRange={onRange}
      />
    </div>
  );
}

function inOrder(
  charts: readonly FilteredChart[],
  order: readonly string[] | undefined,
): readonly FilteredChart[] {
  if (order === undefined) return charts;
  return charts.toSorted((a, b) => order.indexOf(a.chart.chart_id) - order.indexOf(b.chart.chart_id));
}
