import { ChevronRight, Ellipsis, Plus } from 'lucide-react';
import { type ReactNode, useId, useRef, useState } from 'react';
import { Badge } from '../../../ui/badge.js';
import { Button, IconButton } from '../../../ui/button.js';
import { classes } from '../../../ui/classes.js';
import { Menu, type MenuItem } from '../../../ui/menu.js';
import { useFindingAt, useRulesForm } from './context.js';
import type { Part } from './fields.js';

export interface EntryListProps<T extends object> {
  /** Of one entry, in small letters: `charge item`. */
  readonly noun: string;
  readonly path: string;
  readonly entries: readonly T[];
  readonly max: number;
  readonly titleOf: (entry: T) => string;
  /** Beside the title while the entry is closed. */
  readonly summaryOf: (entry: T) => string;
  /** Said while there is none. */
  readonly nothing: string;
  readonly makeEntry: () => T;
  readonly move?: (entries: readonly T[], from: number, to: number) => readonly T[];
  readonly onChange: (entries: readonly T[]) => void;
  readonly children: (part: Part<T>) => ReactNode;
}

/** Entries that are opened one by one: hundreds of them are no more than lines. */
export function EntryList<T extends object>(props: EntryListProps<T>) {
  const { noun, path, entries, max, nothing, makeEntry, onChange, move = moved } = props;
  const { isReadOnly } = useRulesForm();
  const finding = useFindingAt(path);
  const { keys, permute } = useKeys(entries.length);
  const [opened, setOpened] = useState<ReadonlySet<number>>(
    () => new Set(entries.length === 1 ? keys.slice(0, 1) : []),
  );
  const change = (next: readonly T[], order: (keys: readonly number[]) => readonly number[]) => {
    permute(order);
    onChange(next);
  };
  const add = (entry: T, at: number) => {
    const key = nextKey();
    change(entries.toSpliced(at, 0, entry), (now) => now.toSpliced(at, 0, key));
    setOpened(new Set([...opened, key]));
  };
  const actionsOf = (index: number): MenuItem[] => {
    const moveTo = (to: number) => change(move(entries, index, to), (now) => moved(now, index, to));
    const entry = entries[index];
    return [
      ...(index > 0 ? [{ label: 'Move up', onSelect: () => moveTo(index - 1) }] : []),
      ...(index < entries.length - 1 ? [{ label: 'Move down', onSelect: () => moveTo(index + 1) }] : []),
      ...(entries.length < max && entry !== undefined
        ? [{ label: 'Duplicate', onSelect: () => add(entry, index + 1) }]
        : []),
      {
        label: 'Remove',
        isDangerous: true,
        onSelect: () => change(entries.toSpliced(index, 1), (now) => now.toSpliced(index, 1)),
      },
    ];
  };
  return (
    <div className="flex flex-col gap-2">
      {finding !== undefined && <p className="text-xs text-bad">{finding}</p>}
      {entries.length === 0 && <p className="text-[13px] text-ink-faint">{nothing}</p>}
      {entries.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-panel">
          {entries.map((entry, index) => (
            <Entry
              key={keys[index]}
              {...props}
              entry={entry}
              index={index}
              isOpen={opened.has(keys[index] ?? -1)}
              onToggle={() => setOpened(toggled(opened, keys[index] ?? -1))}
              actions={isReadOnly ? [] : actionsOf(index)}
            />
          ))}
        </ul>
      )}
      {!isReadOnly && (
        <Button
          look="quiet"
          size="small"
          className="self-start text-accent"
          disabled={entries.length >= max}
          title={entries.length >= max ? `There may be ${max} at most.` : undefined}
          onClick={() => add(makeEntry(), entries.length)}
        >
          <Plus size={14} /> Add {noun}
        </Button>
      )}
    </div>
  );
}

function Entry<T extends object>({
  noun,
  path: list,
  entry,
  index,
  entries,
  isOpen,
  onToggle,
  actions,
  titleOf,
  summaryOf,
  onChange,
  children,
}: EntryListProps<T> & {
  readonly entry: T;
  readonly index: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly actions: readonly MenuItem[];
}) {
  const id = useId();
  const path = `${list}[${index}]`;
  const { findings } = useRulesForm();
  const problems = findings.filter((each) => each.path === path || each.path.startsWith(`${path}.`)).length;
  const finding = useFindingAt(path);
  const title = titleOf(entry) || `New ${noun}`;
  return (
    <li>
      <div className="flex items-center gap-2 pr-1.5 hover:bg-sunken">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={onToggle}
          className="flex min-w-0 grow items-center gap-2 py-2 pl-2.5 text-left text-[13px] focus-visible:-outline-offset-2"
        >
          <ChevronRight
            size={14}
            className={classes('shrink-0 text-ink-faint transition-transform', isOpen && 'rotate-90')}
          />
          <span className="max-w-[60%] shrink-0 truncate font-medium">{title}</span>
          {!isOpen && (
            <span className="min-w-0 truncate font-mono text-xs text-ink-faint">{summaryOf(entry)}</span>
          )}
        </button>
        {problems > 0 && <Badge tone="bad">{problems === 1 ? '1 problem' : `${problems} problems`}</Badge>}
        {actions.length > 0 && (
          <Menu
            trigger={
              <IconButton label={`More about ${title}`}>
                <Ellipsis size={16} />
              </IconButton>
            }
            items={actions}
          />
        )}
      </div>
      {isOpen && (
        <div id={id} className="flex flex-col gap-4 border-t border-line px-4 py-4 sm:pl-8">
          {finding !== undefined && <p className="text-xs text-bad">{finding}</p>}
          {children({ value: entry, path, onChange: (next) => onChange(entries.with(index, next)) })}
        </div>
      )}
    </li>
  );
}

let keysMade = 0;
function nextKey(): number {
  keysMade += 1;
  return keysMade;
}

/** A key for each entry that stays with it wherever it is moved; entries themselves are new with each letter typed. */
function useKeys(length: number) {
  const [, redraw] = useState(0);
  const keys = useRef<readonly number[]>([]);
  if (keys.current.length !== length) {
    const missing = Math.max(0, length - keys.current.length);
    keys.current = [...keys.current.slice(0, length), ...Array.from({ length: missing }, nextKey)];
  }
  return {
    keys: keys.current,
    permute: (order: (keys: readonly number[]) => readonly number[]) => {
      keys.current = order(keys.current);
      redraw(nextKey());
    },
  };
}

function moved<Each>(list: readonly Each[], from: number, to: number): readonly Each[] {
  const entry = list[from];
  return entry === undefined ? list : list.toSpliced(from, 1).toSpliced(to, 0, entry);
}

function toggled(opened: ReadonlySet<number>, key: number): ReadonlySet<number> {
  return opened.has(key) ? new Set([...opened].filter((each) => each !== key)) : new Set([...opened, key]);
}
