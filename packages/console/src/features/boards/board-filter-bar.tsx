import type { DimensionFilter } from '@tollgate/contract';
import { ListFilter, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.js';
import type { BoardFilters } from './board-filters.js';
import { FilterFields } from './filter-fields.js';
import { nameLabel, namesOf, useMetrics } from './metrics.js';

/** The filters of a board: what holds for all its charts. They are part of the address. */
export function BoardFilterBar({
  filters,
  onChange,
}: {
  readonly filters: BoardFilters;
  readonly onChange: (filters: BoardFilters) => void;
}) {
  const metrics = useMetrics();
  const [isOpen, setOpen] = useState(false);
  // A condition without values is not in the address yet.
  const [draft, setDraft] = useState(filters);
  const all = metrics.data ?? [];
  const names = [
    ...new Set([
      ...namesOf(
        all,
        all.map(({ metric }) => metric),
      ),
      ...Object.keys(filters),
    ]),
  ];
  const edit = (changed: BoardFilters) => {
    setDraft(changed);
    onChange(changed);
  };
  const without = (name: string) =>
    Object.fromEntries(Object.entries(filters).filter(([each]) => each !== name));
  return (
    <section aria-label="Filters of the board" className="px-4 pb-3 sm:px-6">
      <div className="flex flex-wrap items-center gap-2">
        <Button
          look="quiet"
          size="small"
          aria-expanded={isOpen}
          onClick={() => {
            setDraft(filters);
            setOpen(!isOpen);
          }}
        >
          <ListFilter size={14} />
          {isOpen ? 'Close filters' : 'Filter'}
        </Button>
        {Object.entries(filters).map(([name, filter]) => (
          <span
            key={name}
            className="inline-flex max-w-full items-center gap-1 rounded-full bg-accent-soft py-0.5 pr-1 pl-2.5 text-xs"
          >
            <span className="truncate">{filterText(name, filter)}</span>
            <button
              type="button"
              aria-label={`Remove the filter on ${nameLabel(name)}`}
              onClick={() => edit(without(name))}
              className="grid size-6 shrink-0 place-items-center rounded-full hover:bg-sunken"
            >
              <X size={12} />
            </button>
          </span>
        ))}
      </div>
      {isOpen && (
        <div className="mt-2 max-w-xl rounded-xl border border-line bg-panel p-4">
          <FilterFields metrics={all} names={names} filters={draft} onChange={edit} />
        </div>
      )}
    </section>
  );
}

function filterText(name: string, { in: some, not_in: none, exists }: DimensionFilter): string {
  const label = nameLabel(name);
  if (exists !== undefined) return `${label} is ${exists ? '' : 'not '}set`;
  return some === undefined
    ? `${label} is none of ${(none ?? []).join(', ')}`
    : `${label}: ${some.join(', ')}`;
}
