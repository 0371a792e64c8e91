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

/** There is nothing to draw: says whether that is so in this range alone, and what to do. */
export function NoUsage({
  metrics,
  isUnpriced,
  onWiden,
}: {
  /** Undefined for all metrics. */
  readonly metrics: readonly string[] | undefined;
  /** There is some, and none of it has the price that is to be drawn. */
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
          <p>No events have arrived yet.</p>
          <Link href={`/p/${id}/start`} className="font-medium text-accent hover:underline">
            Send the first one
          </Link>
        </>
      ) : (
        <>
          <p>
            {isUnpriced
              ? 'Nothing here has a price in this range.'
              : `No usage${metrics === undefined ? '' : ` of ${metrics.join(', ')}`} in this range.`}
          </p>
          {onWiden !== undefined && lastS > 0 && (
            <Button size="small" onClick={() => onWiden({ from: lastS - AROUND_S, to: lastS + 60 })}>
              Show when it was last used
            </Button>
          )}
        </>
      )}
    </div>
  );
}

/** A day up to the last usage. */
const AROUND_S = 86_400;

/** Names that the chart asks for, and that no usage has. */
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
    'Many charts are being asked at once. It is tried again by itself; a shorter range is faster.',
  store_unavailable: 'This took too long. A shorter range, or fewer dimensions to split by, will be faster.',
  unlike_units: 'Show the metrics one by one, or choose metrics of one unit.',
  forbidden: 'This key may not read charts: it needs analytics:read.',
};

/** A chart could not be read: what the service said, and what helps. */
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
