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
// Constants, because new objects would render every item again.
const POINTER_OPTIONS = { activationConstraint: { distance: DRAG_BEGINS_AFTER_PX } };
const KEYBOARD_OPTIONS = { coordinateGetter: sortableKeyboardCoordinates };

/** An item of a sortable list. */
export interface Sortable {
  readonly id: UniqueIdentifier;
  readonly name: string;
}

/** A list that is sorted by pointer or keyboard. Its items use `useSortableItem`. */
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

/** Announcements for screen readers. */
function announcementsOf(items: readonly Sortable[]): Announcements {
  const position = (itemId: UniqueIdentifier) =>
    `position ${items.findIndex(({ id }) => id === itemId) + 1} of ${items.length}`;
  const name = (itemId: UniqueIdentifier) => items.find(({ id }) => id === itemId)?.name ?? 'The item';
  return {
    onDragStart: ({ active }) => `${name(active.id)} was picked up at ${position(active.id)}.`,
    onDragOver: ({ active, over }) => `${name(active.id)} was moved over ${position(over?.id ?? active.id)}.`,
    onDragEnd: ({ active, over }) => `${name(active.id)} was dropped at ${position(over?.id ?? active.id)}.`,
    onDragCancel: ({ active }) => `${name(active.id)} stays at ${position(active.id)}.`,
  };
}

export interface SortableItem {
  /** Ref of the element that moves. */
  readonly ref: (element: HTMLElement | null) => void;
  readonly style: CSSProperties;
  readonly isDragging: boolean;
  /** The drag handle. */
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
