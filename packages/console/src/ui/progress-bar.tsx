import type { Backtest } from '@tollgate/contract';
import { count } from '../format.js';

const PERCENT = 100;

/** A progress bar that screen readers announce. Show the numbers as text, too. @param share 0 to 1 */
export function ProgressBar({ label, share }: { readonly label: string; readonly share: number }) {
  const percent = Math.min(PERCENT, Math.floor(share * PERCENT));
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={PERCENT}
      className="h-2 min-w-40 grow overflow-hidden rounded-full bg-sunken"
    >
      <div className="h-full bg-accent transition-[width]" style={{ width: `${percent}%` }} />
    </div>
  );
}

/** How many events of a backtest are done, as a bar and as numbers. */
export function EventProgress({
  label,
  progress: { events_done: done, events_total: total },
}: {
  readonly label: string;
  readonly progress: Backtest['progress'];
}) {
  return (
    <>
      <ProgressBar label={label} share={total === 0 ? 0 : done / total} />
      <span className="tabular text-[13px] text-ink-soft">
        {count(done)} of {count(total)} events
      </span>
    </>
  );
}
