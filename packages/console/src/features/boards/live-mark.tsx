import { classes } from '../../ui/classes.js';
import type { LiveStatus } from './board-stream.js';

const MARKS: Readonly<Record<Exclude<LiveStatus, 'none'>, { label: string; meaning: string; dot: string }>> =
  {
    connecting: {
      label: 'Connecting',
      meaning: 'Connecting for live updates.',
      dot: 'bg-ink-faint',
    },
    live: {
      label: 'Live',
      meaning: 'New usage appears in the charts about a second after it is processed.',
      dot: 'bg-good',
    },
    polling: {
      label: 'Every 5 s',
      meaning: 'No connection for live updates. Charts refresh every 5 seconds.',
      dot: 'bg-warn',
    },
  };

/** Shows whether charts are updated live or by polling. */
export function LiveMark({ liveStatus }: { readonly liveStatus: LiveStatus }) {
  if (liveStatus === 'none') return null;
  const { label, meaning, dot } = MARKS[liveStatus];
  return (
    <span role="status" title={meaning} className="inline-flex items-center gap-1.5 text-xs text-ink-soft">
      <span aria-hidden className={classes('size-1.5 rounded-full', dot)} />
      <span className="max-sm:sr-only">{label}</span>
      <span className="sr-only">: {meaning}</span>
    </span>
  );
}
