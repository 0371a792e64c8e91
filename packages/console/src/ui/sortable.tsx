import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  type UniqueIdentifier,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import {
  SortableContext,
  type SortingStrategy,
  sortableKeyboardCoordinates,
  useSortable,
} from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { GripVertical } from 'lucide-react';
import { type CSSProperties, type ReactNode, useMemo } from 'react';

const DRAG_BEGINS_AFTER_PX = 6;
// The same at every drawing: with others, each of the things would be drawn anew.
const POINTER_OPTIONS = { activationConstraint: { distance: DRAG_BEGINS_AFTER_PX } };
const KEYBOARD_OPTIONS = { coordinateGetter: sortableKeyboardCoordinates };

/** One of the things that are in an order. */
export interface Sortable {
  readonly id: UniqueIdentifier;
  readonly name: string;
}

/** Things whose order is changed by pointer or keyboard; each of them, within, is made one by `useSortableItem`. */
export function SortableArea({
  items,
  strategy,
  onMove,
  children,
}: {
  readonly items: readonly Sortable[];
  readonly strategy: SortingStrategy;
  readonly onMove: (from: number, to: number) => void;
  readonly children: ReactNode;
}) {
  const sensors = useSensors(
    useSensor(PointerSensor, POINTER_OPTIONS),
    useSensor(KeyboardSensor, KEYBOARD_OPTIONS),
  );
  const inOrder = JSON.stringify(items.map(({ id }) => id));
  const ids = useMemo<UniqueIdentifier[]>(() => JSON.parse(inOrder), [inOrder]);
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (over !== null && over.id !== active.id) onMove(ids.indexOf(active.id), ids.indexOf(over.id));
  };
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={onDragEnd}
      accessibility={{ announcements: announcementsOf(items) }}
    >
      <SortableContext items={ids} strategy={strategy}>
        {children}
      </SortableContext>
    </DndContext>
  );
}

/** What those hear who do not see a thing move. */
function announcementsOf(items: readonly Sortable[]): Announcements {
  const place = (of: UniqueIdentifier) =>
    `place ${items.findIndex(({ id }) => id === of) + 1} of ${items.length}`;
  const name = (of: UniqueIdentifier) => items.find(({ id }) => id === of)?.name ?? 'It';
  return {
    onDragStart: ({ active }) => `${name(active.id)} is picked up, at ${place(active.id)}.`,
    onDragOver: ({ active, over }) => `${name(active.id)} is over ${place(over?.id ?? active.id)}.`,
    onDragEnd: ({ active, over }) => `${name(active.id)} was put down at ${place(over?.id ?? active.id)}.`,
    onDragCancel: ({ active }) => `${name(active.id)} stays at ${place(active.id)}.`,
  };
}

export interface SortableItem {
  /** Of the element that moves. */
  readonly ref: (element: HTMLElement | null) => void;
  readonly style: CSSProperties;
  readonly isDragging: boolean;
  /** What it is taken by. */
  readonly handle: ReactNode;
}

export function useSortableItem({ id, name }: Sortable): SortableItem {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } =
    useSortable({ id });
  return {
    ref: setNodeRef,
    style: { transform: CSS.Translate.toString(transform), transition },
    isDragging,
    handle: (
      <button
        type="button"
        ref={setActivatorNodeRef}
        {...attributes}
        {...listeners}
        aria-label={`Move ${name}`}
        className="cursor-grab touch-none rounded-sm p-1.5 text-ink-faint opacity-60 hover:opacity-100 focus-visible:opacity-100"
      >
        <GripVertical size={14} />
      </button>
    ),
  };
}
