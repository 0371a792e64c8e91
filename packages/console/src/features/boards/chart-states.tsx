import type { Warning } from '@tollgate/contract';
import { ApiError } from '@tollgate/sdk/browser';
import { TriangleAlert } from 'lucide-react';
import { Link } from 'wouter';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { type FailedRead, ReadFailure } from '../../ui/states.js';
import { WarningList } from '../../ui/warning-list.js';
import { useMetrics } from './metrics.js';
import type { TimeRange } from './time-range.js';

const HEIGHT = 'h-72';

/** Shown when there is nothing to draw: whether the range is the reason, and what to do. */
export function NoUsage({
  metrics,
  isUnpriced,
  onWiden,
}: {
  /** Undefined for all metrics. */
  readonly metrics: readonly string[] | undefined;
  /** Whether there is usage, but none with a price to draw. */
  readonly isUnpriced: boolean;
  readonly onWiden: ((range: TimeRange) => void) | undefined;
}) {
  const { id } = useProject();
  const used = useMetrics();
  const seen = used.data?.filter(({ metric }) => metrics === undefined || metrics.includes(metric)) ?? [];
  const lastS = Math.max(0, ...seen.map(({ last_seen_at }) => last_seen_at));
  return (
    <div
      className={`flex ${HEIGHT} flex-col items-center justify-center gap-3 px-6 pb-4 text-center text-[13px] text-ink-soft`}
    >
      {used.data?.length === 0 ? (
        <>
          <p>No events yet.</p>
          <Link href={`/p/${id}/start`} className="font-medium text-accent hover:underline">
            Send your first event
          </Link>
        </>
      ) : (
        <>
          <p>
            {isUnpriced
              ? 'No priced usage in this range.'
              : `No usage${metrics === undefined ? '' : ` of ${metrics.join(', ')}`} in this range.`}
          </p>
          {onWiden !== undefined && lastS > 0 && (
            <Button size="small" onClick={() => onWiden({ from: lastS - AROUND_S, to: lastS + 60 })}>
              Show last usage
            </Button>
          )}
        </>
      )}
    </div>
  );
}

/** A day up to the last usage. */
const AROUND_S = 86_400;

/** Warnings about names in the query that no usage has. */
export function ChartWarnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null;
  return (
    <section
      aria-label="Warnings"
      className="mx-4 mb-3 flex gap-2 rounded-lg bg-warn-soft px-3 py-1.5 text-xs text-warn"
    >
      <TriangleAlert size={14} className="mt-1 shrink-0" />
      <div className="max-h-24 min-w-0 overflow-y-auto">
        <WarningList warnings={warnings} />
      </div>
    </section>
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  analysis_busy:
    'Many charts are loading at once. This one is retried automatically; a shorter range loads faster.',
  store_unavailable: 'The query took too long. Choose a shorter range or fewer dimensions.',
  unlike_units: 'Show the metrics separately, or choose metrics with the same unit.',
  forbidden: 'To view charts, sign in with a key that has the permission analytics:read.',
};

/** Shows why a chart could not be loaded, with advice. */
export function ChartFailure({ of }: { readonly of: FailedRead }) {
  const { error } = of;
  const advice = error instanceof ApiError ? ADVICE[error.code] : undefined;
  return (
    <div className={`${HEIGHT} px-4`}>
      <ReadFailure of={of} />
      {advice !== undefined && <p className="mt-2 text-[13px] text-ink-soft">{advice}</p>}
    </div>
  );
}
