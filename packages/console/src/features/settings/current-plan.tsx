import { type Entitlement, UNLIMITED } from '@tollgate/contract';
import { count, dateTime } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { ShareBar } from '../../ui/share-bar.js';
import { featureName } from './plan-comparison.js';

/** The current subscription plan: its usage, and the date on which hidden history is deleted. */
export function CurrentPlan({ entitlement }: { readonly entitlement: Entitlement }) {
  const { plan_id, status, ends_at, usage, hidden_history_deleted_at: deletedAt } = entitlement;
  const meters = [
    ['Events this month', usage.events_this_month, entitlement.monthly_event_limit],
    ['Development projects', usage.development_projects, entitlement.max_development_projects],
    ['Release projects', usage.release_projects, entitlement.max_release_projects],
    ['Subject routes', usage.subject_routes, entitlement.max_subject_routes],
    ['Limit rules', usage.usage_controls, entitlement.max_usage_controls],
  ] as const;
  return (
    <section aria-label="Current plan" className="rounded-xl border border-line bg-panel p-5 shadow-xs">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-[15px] font-semibold capitalize">{plan_id}</h2>
        <Badge tone={status === 'active' ? 'good' : 'neutral'}>{status}</Badge>
        {ends_at !== null && (
          <span className="ml-auto text-xs text-ink-faint">until {dateTime(ends_at, 'UTC')} UTC</span>
        )}
      </div>
      <dl className="mt-4 grid gap-x-8 gap-y-4 sm:grid-cols-2 xl:grid-cols-3">
        {meters.map(([name, used, limit]) => (
          <Meter key={name} name={name} used={used} limit={limit} />
        ))}
      </dl>
      <p className="mt-4 text-xs text-ink-soft">{keptText(entitlement)}</p>
      {deletedAt !== null && (
        <p role="note" className="mt-4 rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn">
          Older usage has been hidden since your plan changed. It will be deleted from{' '}
          {dateTime(deletedAt, 'UTC')} UTC on unless you buy a plan with longer history before then.
        </p>
      )}
    </section>
  );
}

function keptText({ retention_days: days, features }: Entitlement): string {
  const kept =
    days === UNLIMITED ? 'Usage history is unlimited.' : `Usage history covers ${count(days)} days.`;
  const included = Object.keys(features).filter((name) => features[name] === true);
  return included.length === 0 ? kept : `${kept} Includes ${included.map(featureName).join(', ')}.`;
}

/** From this share on, the bar warns that the limit is close. */
const NEARLY = 0.8;

function Meter({
  name,
  used,
  limit,
}: {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}) {
  const share = limit === 0 ? 1 : Math.min(used / limit, 1);
  return (
    <div>
      <dt className="text-xs text-ink-faint">{name}</dt>
      <dd className="tabular mt-0.5 text-[13px] font-medium">
        {count(used)}
        <span className="font-normal text-ink-faint">
          {limit === UNLIMITED ? ', unlimited' : ` of ${count(limit)}`}
        </span>
        {limit !== UNLIMITED && (
          <ShareBar
            share={share}
            tone={share >= 1 ? 'bad' : share >= NEARLY ? 'warn' : 'accent'}
            className="mt-1.5"
          />
        )}
      </dd>
    </div>
  );
}
