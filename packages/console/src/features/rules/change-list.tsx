import type { RuleSetChange } from '@tollgate/contract';
import { Badge } from '../../ui/badge.js';

const TONES = { added: 'good', removed: 'bad', changed: 'accent', moved: 'neutral' } as const;

/** The differences between two versions, entry by entry. */
export function ChangeList({
  changes,
  omitted,
}: {
  readonly changes: readonly RuleSetChange[];
  readonly omitted: number;
}) {
  if (changes.length === 0 && omitted === 0)
    return <p className="text-[13px] text-ink-soft">No differences.</p>;
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-panel text-[13px]">
      {changes.map((change) => (
        <li key={`${change.path} ${change.change}`} className="flex flex-col gap-1 px-3 py-2">
          <span className="flex flex-wrap items-center gap-2">
            <Badge tone={TONES[change.change]}>{change.change}</Badge>
            <code className="min-w-0 font-mono text-xs break-all">{change.path}</code>
            {change.change === 'moved' && change.position !== undefined && (
              <span className="text-xs text-ink-faint">to position {change.position + 1}</span>
            )}
          </span>
          {change.before !== undefined && <Value sign="−" look="text-bad" value={change.before} />}
          {change.after !== undefined && <Value sign="+" look="text-good" value={change.after} />}
        </li>
      ))}
      {omitted > 0 && <li className="px-3 py-2 text-ink-faint">and {omitted} more</li>}
    </ul>
  );
}

function Value({
  sign,
  look,
  value,
}: {
  readonly sign: string;
  readonly look: string;
  readonly value: unknown;
}) {
  return (
    <span className={`flex gap-2 font-mono text-xs ${look}`}>
      <span aria-hidden>{sign}</span>
      <span className="sr-only">{sign === '+' ? 'after: ' : 'before: '}</span>
      <span className="line-clamp-4 min-w-0 break-all">
        {typeof value === 'string' ? value : JSON.stringify(value)}
      </span>
    </span>
  );
}
