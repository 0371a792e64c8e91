import type { RealtimeLimit } from '@tollgate/contract';
import { nowS } from '../../clock.js';
import { decimalShort } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { classes } from '../../ui/classes.js';

const HOUR_S = 3_600;
const DAY_S = 86_400;

/** One limit: how much of it is used and reserved, and when it begins anew. */
export function Gauge({ limit }: { readonly limit: RealtimeLimit }) {
  const { used_amount, reserved_amount, limit_amount, remaining_amount, exceeded, action } = limit;
  const unit = limit.measure === 'amount' ? limit.currency : '';
  const share = shareOf(used_amount, limit_amount);
  const reservedShare = Math.min(shareOf(reserved_amount, limit_amount), 1 - Math.min(share, 1));
  const name = `${limit.metric_scope === '*' ? 'All usage' : limit.metric_scope}, per ${limit.period}`;
  return (
    <li className="rounded-xl border border-line bg-panel p-4 shadow-xs">
      <div className="flex items-center gap-2">
        <h3 className="min-w-0 truncate text-[13px] font-semibold">{name}</h3>
        {limit.dimension_key !== undefined && (
          <Badge>
            {limit.dimension_key} = {limit.dimension_value}
          </Badge>
        )}
        <span className="ml-auto">
          <Badge tone={exceeded ? 'bad' : action === 'block' ? 'accent' : 'neutral'}>
            {exceeded ? 'exceeded' : action}
          </Badge>
        </span>
      </div>
      <p className="tabular mt-2 text-xl font-semibold tracking-tight" title={used_amount}>
        {decimalShort(used_amount)}
        <span className="text-[13px] font-normal text-ink-faint" title={limit_amount}>
          {' '}
          of {decimalShort(limit_amount)} {unit}
        </span>
      </p>
      <div aria-hidden="true" className="mt-2 flex h-2 overflow-hidden rounded-full bg-sunken">
        <span
          className={classes(
            'transition-[width]',
            exceeded ? 'bg-bad' : share >= 0.8 ? 'bg-warn' : 'bg-accent',
          )}
          style={{ width: `${Math.min(share, 1) * 100}%` }}
        />
        <span className="bg-accent/35" style={{ width: `${reservedShare * 100}%` }} />
      </div>
      <p className="tabular mt-2 flex flex-wrap gap-x-4 text-xs text-ink-soft">
        <span title={remaining_amount}>{decimalShort(remaining_amount)} left</span>
        {reserved_amount !== '0' && (
          <span title={reserved_amount}>{decimalShort(reserved_amount)} reserved</span>
        )}
        <span className="ml-auto">{resetText(limit.next_reset_at)}</span>
      </p>
    </li>
  );
}

/** For drawing only. */
function shareOf(part: string, whole: string): number {
  const share = Number(part) / Number(whole);
  return Number.isFinite(share) ? Math.max(share, 0) : Number(Number(part) > 0);
}

function resetText(at: number | undefined): string {
  if (at === undefined) return 'for good';
  const leftS = Math.max(at - nowS(), 0);
  if (leftS >= 2 * DAY_S) return `resets in ${Math.round(leftS / DAY_S)} days`;
  if (leftS >= 2 * HOUR_S) return `resets in ${Math.round(leftS / HOUR_S)} hours`;
  return `resets in ${Math.max(Math.round(leftS / 60), 1)} min`;
}
