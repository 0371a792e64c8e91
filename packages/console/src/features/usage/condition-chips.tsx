import type { DimensionFilter } from '@tollgate/contract';
import { X } from 'lucide-react';
import { conditionsOf, filtersText } from './filters.js';

/** Upper bound of the values in a chip; its title has all of them. */
const VALUES_SHOWN = 3;

/** The conditions on dimensions, each with a button to remove it. Links from charts set them. */
export function ConditionChips({
  text,
  onChange,
}: {
  readonly text: string | undefined;
  readonly onChange: (text: string | undefined) => void;
}) {
  const conditions = conditionsOf(text ?? '');
  const without = (name: string) =>
    filtersText(Object.fromEntries(Object.entries(conditions).filter(([each]) => each !== name)))[0]?.[1];
  return Object.entries(conditions).map(([name, filter]) => (
    <span
      key={name}
      title={`${name} ${wordsOf(filter)}`}
      className="inline-flex h-8 max-w-full items-center gap-1 rounded-full border border-accent bg-accent-soft pr-1 pl-3 text-[13px] text-accent"
    >
      <span className="truncate">
        <bdi>{name}</bdi> {wordsOf(filter, VALUES_SHOWN)}
      </span>
      <button
        type="button"
        aria-label={`Remove condition on ${name}`}
        onClick={() => onChange(without(name))}
        className="grid size-6 shrink-0 place-items-center rounded-full hover:bg-sunken"
      >
        <X size={13} />
      </button>
    </span>
  ));
}

function wordsOf(
  { in: some, not_in: none, exists }: DimensionFilter,
  shown = Number.POSITIVE_INFINITY,
): string {
  if (exists !== undefined) return exists ? 'is set' : 'is not set';
  const values = some ?? none ?? [];
  const more = values.length > shown ? ` and ${values.length - shown} more` : '';
  const list = values.slice(0, shown).join(', ') + more;
  if (some === undefined) return values.length === 1 ? `is not ${list}` : `is none of ${list}`;
  return values.length === 1 ? `is ${list}` : `is one of ${list}`;
}
