import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import {
  arrayMove,
  rectSortingStrategy,
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
} from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import type { Board, Chart } from '@tollgate/contract';
import { GripVertical } from 'lucide-react';
import { useState } from 'react';
import { classes } from '../../ui/classes.js';
import { useBoardChanges } from './api.js';
import type { BoardStream } from './board-stream.js';
import { type ChartAction, ChartCard } from './chart-card.js';
import type { Tellings } from './tellings.js';
import type { TimeRange } from './time-range.js';

export interface ChartGridProps {
  readonly board: Board;
  readonly charts: readonly Chart[];
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  readonly stream: BoardStream;
  readonly tellings: Tellings;
  /** Undefined where the key may not change boards. */
  readonly onDo: ((action: ChartAction, chart: Chart) => void) | undefined;
}

const DRAG_BEGINS_AFTER_PX = 6;

/** The charts in their order, two in a row where there is room; they are moved by pointer or keyboard. */
export function ChartGrid({ charts, ...rest }: ChartGridProps) {
  const { board } = rest;
  const { reorder } = useBoardChanges();
  // What was just moved stays where it was put, while the service is told.
  const [moved, setMoved] = useState<readonly string[]>();
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DRAG_BEGINS_AFTER_PX } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const shown = inOrder(charts, moved);
  const ids = shown.map(({ chart_id }) => chart_id);
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (over === null || over.id === active.id) return;
    const order = arrayMove(ids, ids.indexOf(String(active.id)), ids.indexOf(String(over.id)));
    setMoved(order);
    reorder.mutate(
      { id: board.report_id, body: { order: order.map((chart_id, position) => ({ chart_id, position })) } },
      { onSettled: () => setMoved(undefined) },
    );
  };
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={onDragEnd}
      accessibility={{ announcements: announcementsOf(shown) }}
    >
      <SortableContext items={ids} strategy={rectSortingStrategy}>
        <div className="grid gap-4 px-4 pb-10 sm:px-6 xl:grid-cols-2">
          {shown.map((chart) => (
            <SortableChart key={chart.chart_id} chart={chart} {...rest} />
          ))}
        </div>
      </SortableContext>
    </DndContext>
  );
}

/** What those hear who do not see a chart move. */
function announcementsOf(charts: readonly Chart[]): Announcements {
  const place = (id: string | number) =>
    `place ${charts.findIndex(({ chart_id }) => chart_id === id) + 1} of ${charts.length}`;
  const title = (id: string | number) => charts.find(({ chart_id }) => chart_id === id)?.title ?? 'The chart';
  return {
    onDragStart: ({ active }) => `${title(active.id)} is picked up, at ${place(active.id)}.`,
    onDragOver: ({ active, over }) => `${title(active.id)} is over ${place(over?.id ?? active.id)}.`,
    onDragEnd: ({ active, over }) => `${title(active.id)} was put down at ${place(over?.id ?? active.id)}.`,
    onDragCancel: ({ active }) => `${title(active.id)} stays at ${place(active.id)}.`,
  };
}

function SortableChart({
  board,
  chart,
  range,
  onRange,
  stream,
  tellings,
  onDo,
}: Omit<ChartGridProps, 'charts'> & { readonly chart: Chart }) {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } =
    useSortable({
      id: chart.chart_id,
    });
  const handle = (
    <button
      type="button"
      ref={setActivatorNodeRef}
      {...attributes}
      {...listeners}
      aria-label={`Move ${chart.title}`}
      className="-my-1 -ml-2.5 cursor-grab touch-none rounded-sm p-1.5 text-ink-faint opacity-60 hover:opacity-100 focus-visible:opacity-100"
    >
      <GripVertical size={14} />
    </button>
  );
  return (
    <div
      ref={setNodeRef}
      style={{ transform: CSS.Translate.toString(transform), transition }}
      className={classes(
        'min-w-0',
        chart.size === 'full' && 'xl:col-span-2',
        isDragging && 'z-10 opacity-80',
      )}
    >
      <ChartCard
        chart={chart}
        timezone={board.timezone}
        range={range}
        isFollowed={stream.followed.has(chart.chart_id)}
        tellings={tellings}
        handle={onDo === undefined ? undefined : handle}
        onDo={onDo && ((action) => onDo(action, chart))}
        onRange={onRange}
      />
    </div>
  );
}

function inOrder(charts: readonly Chart[], order: readonly string[] | undefined): readonly Chart[] {
  if (order === undefined) return charts;
  return [...charts].sort((a, b) => order.indexOf(a.chart_id) - order.indexOf(b.chart_id));
}
