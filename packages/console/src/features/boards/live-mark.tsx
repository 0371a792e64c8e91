import { classes } from '../../ui/classes.js';
import type { Liveness } from './board-stream.js';

const MARKS: Readonly<Record<Exclude<Liveness, 'none'>, { label: string; meaning: string; dot: string }>> = {
  connecting: {
    label: 'Connecting',
    meaning: 'The live connection is being made. Charts are shown as they are now.',
    dot: 'bg-ink-faint',
  },
  live: {
    label: 'Live',
    meaning: 'New usage shows in the charts about a second after it was processed.',
    dot: 'bg-good',
  },
  polling: {
    label: 'Every 5 s',
    meaning: 'No live updates for this range, or no connection. Charts refresh every 5 seconds.',
    dot: 'bg-warn',
  },
};

/** How fresh the charts are, and what that means. */
export function LiveMark({ liveness }: { readonly liveness: Liveness }) {
  if (liveness === 'none') return null;
  const { label, meaning, dot } = MARKS[liveness];
  return (
    <span role="status" title={meaning} className="inline-flex items-center gap-1.5 text-xs text-ink-soft">
      <span aria-hidden className={classes('size-1.5 rounded-full', dot)} />
      <span className="max-sm:sr-only">{label}</span>
      <span className="sr-only">: {meaning}</span>
    </span>
  );
}
