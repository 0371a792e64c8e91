import type { LimitMeasure, RealtimeLimit } from '@tollgate/contract';
import { isolated } from '../../../bidi.js';
import { dateTime, decimalExact, decimalSignificant } from '../../../format.js';
import { Badge } from '../../../ui/badge.js';
import { classes } from '../../../ui/classes.js';
import { Moment } from '../../../ui/moment.js';
import { periodChoice, periodWords } from '../rules/period.js';
import { dimensionWords, metricWords } from '../rules/selection-words.js';
import { type LimitStatus, limitStatusOf, shareOf } from './limit-status.js';

const LOOKS = {
  exceeded: { label: 'exceeded', tone: 'bad', bar: 'bg-bad' },
  near: { label: 'near limit', tone: 'warn', bar: 'bg-warn' },
  ok: { label: 'ok', tone: 'good', bar: 'bg-accent' },
} as const satisfies Readonly<Record<LimitStatus, unknown>>;

/** One limit: its used, reserved and remaining amounts, and when it resets. */
export function Gauge({ limit, timezone }: { readonly limit: RealtimeLimit; readonly timezone: string }) {
  const { used_amount: used, limit_amount: allowed, currency, action, next_reset_at: resetAt } = limit;
  const status = limitStatusOf(limit);
  return (
    <li className="flex flex-col rounded-xl border border-line bg-panel p-4 shadow-xs">
      <div className="flex items-start gap-2">
        <h3 className="min-w-0 grow text-[13px] font-semibold wrap-anywhere">
          {limitName(limit)}{' '}
          <code className="ml-1 font-mono text-xs font-normal text-ink-faint">{limit.limit_key}</code>
        </h3>
        <span className="shrink-0 whitespace-nowrap">
          <Badge tone={LOOKS[status].tone}>{LOOKS[status].label}</Badge>
        </span>
      </div>
      <p className="tabular mt-2 text-xl font-semibold tracking-tight" title={decimalExact(used)}>
        {decimalSignificant(used)}
        <span className="text-[13px] font-normal text-ink-faint" title={decimalExact(allowed)}>
          {' '}
          of {decimalSignificant(allowed)} {currency}
        </span>
      </p>
      <Bar limit={limit} look={LOOKS[status].bar} />
      <dl className="tabular mt-3 flex flex-wrap gap-x-5 gap-y-1 text-xs text-ink-soft">
        <Remaining value={limit.remaining_amount} />
        <Amount name="reserved" value={limit.reserved_amount} />
        {limit.raised_amount !== undefined && <Amount name="raised" value={limit.raised_amount} />}
        <div className="ml-auto">{action === 'block' ? 'Blocks' : 'Alert only'}</div>
      </dl>
      <p className="mt-2 border-t border-line pt-2 text-xs text-ink-faint">
        {resetAt === undefined ? (
          withoutReset(limit.period)
        ) : (
          <>
            Resets <Moment at={resetAt} timezone={timezone} />, {dateTime(resetAt, timezone)} {timezone}
          </>
        )}
      </p>
    </li>
  );
}

/** How usage falls that is not reset at a time. */
function withoutReset(period: string | undefined): string {
  if (period === undefined) return 'Falls when leases end';
  const choice = periodChoice(period);
  if (choice === 'sliding') return 'Falls as usage gets older';
  return choice === 'first_use' ? 'Begins with the next usage' : 'Never resets';
}

function Bar({ limit, look }: { readonly limit: RealtimeLimit; readonly look: string }) {
  const used = Math.min(shareOf(limit.used_amount, limit.limit_amount), 1);
  const reserved = Math.min(shareOf(limit.reserved_amount, limit.limit_amount), 1 - used);
  return (
    <div aria-hidden="true" className="mt-2 flex h-2 overflow-hidden rounded-full bg-sunken">
      <span className={classes('transition-[width]', look)} style={{ width: `${used * 100}%` }} />
      <span
        className={classes('opacity-40 transition-[width]', look)}
        style={{ width: `${reserved * 100}%` }}
      />
    </div>
  );
}

/** The amount left of the limit, or the amount by which it is exceeded. */
function Remaining({ value }: { readonly value: string }) {
  const isOver = value.startsWith('-');
  return <Amount name={isOver ? 'over' : 'left'} value={isOver ? value.slice(1) : value} />;
}

function Amount({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div title={decimalExact(value)}>
      <dd className="inline">{decimalSignificant(value)}</dd> <dt className="inline">{name}</dt>
    </div>
  );
}

/** Words for a limit by its measure, from those for its usage and the dimension that it counts; a sum has none. */
const MEASURE_WORDS: Partial<Record<LimitMeasure, (usage: string, of: string) => string>> = {
  count: (usage) => `Charge items of ${usage}`,
  unique: (usage, of) => `Values of ${isolated(of)} in ${usage}`,
  max: (usage) => `Greatest quantity of ${usage}`,
};

/**
 * Names a limit by its usage and period: `llm.output_tokens where model is large, per 7 days`. A measure that is not a
 * sum comes first.
 */
export function limitName(
  limit: Omit<RealtimeLimit, 'limit_key' | 'plan_id' | 'account_id' | 'account_external_id' | 'level'>,
): string {
  const { measure, of = '', period } = limit;
  if (period === undefined) return 'Active leases';
  const selected = metricWords(limit);
  const sum = selected === 'all usage' ? 'All usage' : selected;
  const what = MEASURE_WORDS[measure]?.(selected, of) ?? sum;
  return `${what}${dimensionWords(limit)}, ${periodWords(period)}`;
}
