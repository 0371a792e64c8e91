import { useMemo } from 'react';
import { classes } from '../classes.js';
import { type DiffLine, diffLines, foldSame } from './line-diff.js';

const CONTEXT_LINES = 3;

const LOOKS: Readonly<Record<DiffLine['kind'], { readonly sign: string; readonly look: string }>> = {
  same: { sign: ' ', look: 'text-ink-soft' },
  removed: { sign: '−', look: 'bg-bad-soft text-bad' },
  added: { sign: '+', look: 'bg-good-soft text-good' },
};

/** The differences between two texts, line by line, with some context. */
export function Diff({
  label,
  before,
  after,
  nothing = 'No differences.',
}: {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  /** Shown if the texts are equal. */
  readonly nothing?: string;
}) {
  const parts = useMemo(() => foldSame(diffLines(before, after), CONTEXT_LINES), [before, after]);
  if (parts.every(({ kind }) => kind === 'folded'))
    return <p className="text-[13px] text-ink-soft">{nothing}</p>;
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: wide content must be scrollable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line bg-panel"
    >
      <div className="min-w-max py-1 font-mono text-xs leading-5">
        {parts.map((part, index) =>
          part.kind === 'folded' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified only by their position
            <p key={index} className="bg-sunken px-3 text-ink-faint">
              {part.count} unchanged {part.count === 1 ? 'line' : 'lines'}
            </p>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified only by their position
            <div key={index} className={classes('flex px-3 whitespace-pre', LOOKS[part.kind].look)}>
              <span aria-hidden className="w-5 shrink-0 select-none">
                {LOOKS[part.kind].sign}
              </span>
              {part.kind !== 'same' && <span className="sr-only">{part.kind}: </span>}
              <span>{part.text}</span>
            </div>
          ),
        )}
      </div>
    </section>
  );
}
