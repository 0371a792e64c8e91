import { verticalListSortingStrategy } from '@dnd-kit/sortable';
import { ChevronRight, Ellipsis, Plus } from 'lucide-react';
import { memo, type ReactNode, useCallback, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Badge } from '../../../ui/badge.js';
import { Button, IconButton } from '../../../ui/button.js';
import { classes } from '../../../ui/classes.js';
import { Menu, type MenuItem } from '../../../ui/menu.js';
import { SortableArea, useSortableItem } from '../../../ui/sortable.js';
import type { Finding } from '../finding.js';
import { useFindingAt, useRulesForm } from './context.js';
import type { FormPart } from './fields.js';

export interface EntryListProps<T extends object> {
  /** Name of one entry in lower case: `charge item`. */
  readonly noun: string;
  readonly path: string;
  readonly entries: readonly T[];
  readonly max: number;
  readonly titleOf: (entry: T) => string;
  /** Shown next to the title while the entry is closed. */
  readonly summaryOf: (entry: T) => string;
  /** Shown if there are no entries. */
  readonly nothing: string;
  readonly makeEntry: () => T;
  readonly move?: (entries: readonly T[], from: number, to: number) => readonly T[];
  readonly onChange: (entries: readonly T[]) => void;
  readonly children: (part: FormPart<T>) => ReactNode;
}

/** A sortable list of entries that open one by one. Closed entries are single lines, so hundreds of them stay fast. */
export function EntryList<T extends object>(props: EntryListProps<T>) {
  const { noun, path, entries, max, nothing, makeEntry, onChange, children } = props;
  const { isReadOnly, findings } = useRulesForm();
  const { keys, opened, add, act, moveTo } = useEntries(props);
  const items = entries.map((entry, index) => ({
    id: keys[index] ?? -1,
    name: props.titleOf(entry) || `New ${noun}`,
  }));
  const problems = useMemo(() => problemsOf(findings, path), [findings, path]);
  const finding = useFindingAt(path);
  return (
    <div className="flex flex-col gap-2">
      {finding !== undefined && <p className="text-xs text-bad">{finding}</p>}
      {entries.length === 0 && <p className="text-[13px] text-ink-faint">{nothing}</p>}
      {entries.length > 0 && (
        <SortableArea items={items} strategy={verticalListSortingStrategy} onMove={moveTo}>
          <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-panel">
            {entries.map((entry, index) => {
              const { id, name } = items[index] ?? { id: -1, name: '' };
              const isOpen = opened.has(id);
              const edit = (next: T) => onChange(entries.with(index, next));
              return (
                <Entry
                  key={id}
                  id={id}
                  title={name}
                  summary={isOpen ? '' : props.summaryOf(entry)}
                  index={index}
                  isLast={index === entries.length - 1}
                  isFull={entries.length >= max}
                  isReadOnly={isReadOnly}
                  finding={problems.get(index)?.own}
                  problemCount={problems.get(index)?.count ?? 0}
                  act={act}
                >
                  {isOpen && children({ value: entry, path: `${path}[${index}]`, onChange: edit })}
                </Entry>
              );
            })}
          </ul>
        </SortableArea>
      )}
      {!isReadOnly && (
        <Button
          look="quiet"
          size="small"
          className="self-start text-accent"
          disabled={entries.length >= max}
          title={entries.length >= max ? `At most ${max} are allowed.` : undefined}
          onClick={() => add(makeEntry(), entries.length)}
        >
          <Plus size={14} /> Add {noun}
        </Button>
      )}
    </div>
  );
}

type Action = 'toggle' | 'up' | 'down' | 'duplicate' | 'remove';

/**
 * The open entries and the actions on entries. `act` is always the same function, so that unchanged lines are not
 * rendered again.
 */
function useEntries<T extends object>({ entries, move = moved, onChange }: EntryListProps<T>) {
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
  const moveTo = (from: number, to: number) => change(move(entries, from, to), (now) => moved(now, from, to));
  const latest = useRef<(action: Action, index: number) => void>(undefined);
  useLayoutEffect(() => {
    latest.current = (action, index) => {
      const entry = entries[index];
      if (entry === undefined) return;
      if (action === 'toggle') setOpened(toggled(opened, keys[index] ?? -1));
      else if (action === 'up') moveTo(index, index - 1);
      else if (action === 'down') moveTo(index, index + 1);
      else if (action === 'duplicate') add(entry, index + 1);
      else change(entries.toSpliced(index, 1), (now) => now.toSpliced(index, 1));
    };
  });
  const act = useCallback((action: Action, index: number) => latest.current?.(action, index), []);
  return { keys, opened, add, act, moveTo };
}

interface Problems {
  readonly count: number;
  /** The error of the entry as a whole. */
  readonly own: string | undefined;
}

/** The errors within each entry of a list. */
function problemsOf(findings: readonly Finding[], list: string): ReadonlyMap<number, Problems> {
  const problems = new Map<number, Problems>();
  for (const { path, message } of findings) {
    if (!path.startsWith(`${list}[`)) continue;
    const [, index, rest] = /^\[(\d+)\](.*)$/.exec(path.slice(list.length)) ?? [];
    const known = problems.get(Number(index));
    problems.set(Number(index), {
      count: (known?.count ?? 0) + 1,
      own: rest === '' ? message : known?.own,
    });
  }
  return problems;
}

/** The list item of an entry, with its drag handle. */
function SortableEntry({
  isReadOnly,
  children,
  ...sortable
}: { readonly id: number; readonly name: string } & {
  readonly isReadOnly: boolean;
  readonly children: ReactNode;
}) {
  const { ref, style, isDragging, handle } = useSortableItem(sortable);
  return (
    <li ref={ref} style={style} className={classes('relative bg-panel', isDragging && 'z-10 shadow-lg')}>
      {!isReadOnly && <div className="absolute top-1.25 left-1">{handle}</div>}
      {children}
    </li>
  );
}

interface EntryProps {
  readonly title: string;
  readonly summary: string;
  readonly index: number;
  readonly isLast: boolean;
  readonly isFull: boolean;
  readonly isReadOnly: boolean;
  readonly finding: string | undefined;
  readonly problemCount: number;
  readonly act: (action: Action, index: number) => void;
  /** The fields of an open entry; false for a closed one. */
  readonly children: ReactNode;
}

/** An entry, rendered again only when it changes itself. */
const Entry = memo(function Entry({ id, ...entry }: EntryProps & { readonly id: number }) {
  return (
    <SortableEntry id={id} name={entry.title} isReadOnly={entry.isReadOnly}>
      <EntryContent {...entry} />
    </SortableEntry>
  );
});

function EntryContent({ title, index, finding, problemCount, act, ...entry }: EntryProps) {
  const { summary, isLast, isFull, isReadOnly, children } = entry;
  const id = useId();
  const isOpen = children !== false;
  const actions: MenuItem[] = [
    ...(index > 0 ? [{ label: 'Move up', onSelect: () => act('up', index) }] : []),
    ...(isLast ? [] : [{ label: 'Move down', onSelect: () => act('down', index) }]),
    ...(isFull ? [] : [{ label: 'Duplicate', onSelect: () => act('duplicate', index) }]),
    { label: 'Remove', isDangerous: true, onSelect: () => act('remove', index) },
  ];
  return (
    <>
      <div className="flex items-center gap-2 pr-1.5 hover:bg-sunken">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => act('toggle', index)}
          className={classes(
            'flex min-w-0 grow items-center gap-2 py-2 text-left text-[13px] focus-visible:-outline-offset-2',
            isReadOnly ? 'pl-2.5' : 'pl-8',
          )}
        >
          <ChevronRight
            size={14}
            className={classes('shrink-0 text-ink-faint transition-transform', isOpen && 'rotate-90')}
          />
          <span className="flex min-w-0 grow flex-col gap-x-2 sm:flex-row sm:items-baseline">
            <span
              title={title}
              className={classes('truncate font-medium', summary !== '' && 'sm:max-w-[60%] sm:shrink-0')}
            >
              {title}
            </span>
            <span title={summary} className="min-w-0 truncate font-mono text-xs text-ink-faint">
              {summary}
            </span>
          </span>
        </button>
        {problemCount > 0 && (
          <Badge tone="bad">{problemCount === 1 ? '1 error' : `${problemCount} errors`}</Badge>
        )}
        {!isReadOnly && (
          <Menu
            trigger={
              <IconButton label={`Actions for ${title}`}>
                <Ellipsis size={16} />
              </IconButton>
            }
            items={actions}
          />
        )}
      </div>
      {isOpen && (
        <div id={id} className="flex flex-col gap-4 border-t border-line px-4 py-4 sm:pl-13">
          {finding !== undefined && <p className="text-xs text-bad">{finding}</p>}
          {children}
        </div>
      )}
    </>
  );
}

let keysCreated = 0;
function nextKey(): number {
  keysCreated += 1;
  return keysCreated;
}

/** A stable key for each entry, which moves with it. Entries are new objects after every edit. */
function useKeys(length: number) {
  const [kept, permute] = useState<readonly number[]>([]);
  const keys = kept.length === length ? kept : fitted(kept, length);
  if (keys !== kept) permute(keys);
  return { keys, permute };
}

function fitted(keys: readonly number[], length: number): readonly number[] {
  const missing = Math.max(0, length - keys.length);
  return [...keys.slice(0, length), ...Array.from({ length: missing }, nextKey)];
}

function moved<Each>(list: readonly Each[], from: number, to: number): readonly Each[] {
  const entry = list[from];
  return entry === undefined ? list : list.toSpliced(from, 1).toSpliced(to, 0, entry);
}

function toggled(opened: ReadonlySet<number>, key: number): ReadonlySet<number> {
  return opened.has(key) ? new Set([...opened].filter((each) => each !== key)) : new Set([...opened, key]);
}
