import type { UsageEvent } from '@tollgate/contract';
import { useState } from 'react';
import { count, dateTime } from '../../format.js';
import { Button } from '../../ui/button.js';
import type { Column } from '../../ui/table.js';
import { VoidEventsDialog } from '../corrections/void-events-dialog.js';
import type { EventQuery } from './filters.js';

/** Upper bound of events that are voided one by one while the user waits. */
const SELECTED_MAX = 100;

/** The selected events of the list, and a function that changes them. */
export interface EventSelection {
  readonly ids: ReadonlySet<string>;
  readonly change: (ids: ReadonlySet<string>) => void;
}

/** The selection of a list. It ends when the filters change. */
export function useEventSelection(eventQuery: EventQuery): EventSelection {
  const [selected, setSelected] = useState<{ eventQuery: EventQuery; ids: ReadonlySet<string> }>();
  const ids = selected?.eventQuery === eventQuery ? selected.ids : new Set<string>();
  return { ids, change: (next) => setSelected({ eventQuery, ids: next }) };
}

const BOX = 'relative z-1 block size-4 accent-accent disabled:opacity-40';

/** A column of checkboxes, with one in its head for all events that can be voided. */
export function selectionColumn(
  { ids, change }: EventSelection,
  rows: readonly UsageEvent[],
): Column<UsageEvent> {
  const selectable = rows.filter(isSelectable).map(({ raw_event_id }) => raw_event_id);
  const isAll = selectable.length > 0 && selectable.every((id) => ids.has(id));
  const toggle = (id: string) => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    change(next);
  };
  return {
    title: 'Select',
    isNarrow: true,
    head: (
      <input
        type="checkbox"
        aria-label="Select all events in the list"
        className={BOX}
        checked={isAll}
        disabled={selectable.length === 0}
        onChange={() => change(isAll ? new Set() : new Set(selectable))}
      />
    ),
    cell: (event) => (
      <input
        type="checkbox"
        aria-label={`Select the event of ${dateTime(event.occurred_at, 'UTC')}, ${event.subject_id ?? 'no subject'}`}
        className={BOX}
        checked={ids.has(event.raw_event_id)}
        disabled={!isSelectable(event)}
        onChange={() => toggle(event.raw_event_id)}
      />
    ),
  };
}

function isSelectable({ status }: UsageEvent): boolean {
  return status !== 'voided';
}

/** The number of selected events, and what can be done with them. */
export function SelectionBar({ selection: { ids, change } }: { readonly selection: EventSelection }) {
  const [isVoiding, setVoiding] = useState(false);
  if (ids.size === 0) return null;
  const isMany = ids.size > SELECTED_MAX;
  return (
    <section
      aria-label="Selection"
      className="sticky top-14 z-10 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-panel px-3.5 py-2 text-[13px] shadow-md lg:top-3"
    >
      <p role="status" className="mr-auto">
        <strong className="font-semibold">{count(ids.size)}</strong> {ids.size === 1 ? 'event' : 'events'}{' '}
        selected.
        {isMany && ` At most ${SELECTED_MAX} can be voided like this: use filters and Correct… for more.`}
      </p>
      <Button size="small" look="danger" disabled={isMany} onClick={() => setVoiding(true)}>
        Void {count(ids.size)}…
      </Button>
      <Button size="small" onClick={() => change(new Set())}>
        Clear selection
      </Button>
      <VoidEventsDialog
        eventIds={[...ids]}
        isOpen={isVoiding}
        onClose={() => setVoiding(false)}
        onDone={() => {
          setVoiding(false);
          change(new Set());
        }}
      />
    </section>
  );
}
