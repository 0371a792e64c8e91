import {
  type CatalogPlan,
  type CatalogPlanList,
  type Entitlement,
  UNLIMITED,
  UNSOLD_PLAN_ID,
} from '@tollgate/contract';
import { useSearchParams } from 'wouter';
import { count, dateTime, price } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { ShareBar } from '../../ui/share-bar.js';
import { FailureNote, ReadFailure, Skeleton } from '../../ui/states.js';
import { useCatalog, useEntitlement, useIsAdmin, usePurchase } from './api.js';
import { PurchaseOutcome } from './purchase-outcome.js';

/** What the tenant may use, how much of it is used, and what else can be bought. */
export function PlanPage() {
  const entitlement = useEntitlement();
  const [parameters, setParameters] = useSearchParams();
  const isAdmin = useIsAdmin();
  const outcome = parameters.get('checkout');
  if (entitlement.isError) return <ReadFailure of={entitlement} />;
  if (entitlement.data === undefined) return <Skeleton className="h-64" />;
  return (
    <div className="flex flex-col gap-6">
      {isAdmin && (outcome === 'success' || outcome === 'cancel') && (
        <PurchaseOutcome outcome={outcome} onDismiss={() => setParameters({}, { replace: true })} />
      )}
      <Current entitlement={entitlement.data} />
      <Plans currentId={entitlement.data.plan_id} isAdmin={isAdmin} />
    </div>
  );
}

function Plans({ currentId, isAdmin }: { readonly currentId: string; readonly isAdmin: boolean }) {
  const catalog = useCatalog();
  const plans =
    catalog.data?.plans.filter(({ id, amount_minor }) => amount_minor > 0 && id !== UNSOLD_PLAN_ID) ?? [];
  const isSold = catalog.data?.payment_provider !== null;
  return (
    <section aria-label="Plans">
      <h2 className="mb-3 text-[15px] font-semibold">Plans</h2>
      {catalog.isError && <ReadFailure of={catalog} />}
      {catalog.isPending && <Skeleton className="h-64" />}
      <ul className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
        {plans.map((plan) => (
          <Offer
            key={plan.id}
            plan={plan}
            isCurrent={plan.id === currentId}
            isSold={isSold}
            isAdmin={isAdmin}
          />
        ))}
      </ul>
      <p className="mt-3 text-[13px] text-ink-soft">{buyingText(catalog.data?.payment_provider, isAdmin)}</p>
    </section>
  );
}

/** What a reader of the page has to know about buying a plan; nothing for an administrator who can pay for one. */
function buyingText(
  provider: CatalogPlanList['payment_provider'] | undefined,
  isAdmin: boolean,
): string | null {
  if (provider === null)
    return 'Plans cannot be bought here: this service takes no payments. Ask its operator for a plan.';
  if (!isAdmin) return 'To buy a plan, sign in with a key that has the permission tenant:admin.';
  return provider === 'sandbox' ? 'Payments go to a sandbox: no money is taken.' : null;
}

function Current({ entitlement }: { readonly entitlement: Entitlement }) {
  const { plan_id, status, ends_at, usage } = entitlement;
  const meters = [
    ['Events this month', usage.events_this_month, entitlement.monthly_event_limit],
    ['Development projects', usage.development_projects, entitlement.max_development_projects],
    ['Release projects', usage.release_projects, entitlement.max_release_projects],
    ['Subject routes', usage.subject_routes, entitlement.max_subject_routes],
    ['Usage controls', usage.usage_controls, entitlement.max_usage_controls],
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
    </section>
  );
}

function keptText({ retention_days: days, features }: Entitlement): string {
  const kept = days === UNLIMITED ? 'Usage is kept for good.' : `Usage is kept for ${count(days)} days.`;
  const on = Object.keys(features).filter((name) => features[name] === true);
  return on.length === 0 ? kept : `${kept} Switched on: ${on.join(', ')}.`;
}

/** From here on a limit is close. */
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
          {limit === UNLIMITED ? ', without a limit' : ` of ${count(limit)}`}
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

function Offer({
  plan,
  isCurrent,
  isSold,
  isAdmin,
}: {
  readonly plan: CatalogPlan;
  readonly isCurrent: boolean;
  /** Whether the service takes payments. */
  readonly isSold: boolean;
  readonly isAdmin: boolean;
}) {
  const purchase = usePurchase();
  const facts = [
    limitText(plan.monthly_event_limit, 'event', ' a month'),
    limitText(plan.max_release_projects, 'release project'),
    limitText(plan.max_subject_routes, 'subject route'),
    plan.retention_days === UNLIMITED ? 'history kept for good' : `${plan.retention_days} days of history`,
  ];
  return (
    <li
      className={classes(
        'flex flex-col rounded-xl border bg-panel p-5 shadow-xs',
        isCurrent ? 'border-accent' : 'border-line',
      )}
    >
      <div className="flex items-baseline gap-2">
        <h3 className="text-[15px] font-semibold">{plan.display_name}</h3>
        <span className="tabular ml-auto font-semibold">{price(plan.amount_minor, plan.currency)}</span>
        <span className="text-xs text-ink-faint">a month</span>
      </div>
      <ul className="mt-3 mb-5 flex flex-col gap-1 text-[13px] text-ink-soft">
        {facts.map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      {purchase.isError && <FailureNote error={purchase.error} />}
      {isSold && (
        <Button
          look={isCurrent ? 'plain' : 'primary'}
          className="mt-auto"
          isBusy={purchase.isPending}
          disabled={!isAdmin}
          onClick={() => purchase.mutate(plan.id)}
        >
          {isCurrent ? 'Buy another month' : `Buy ${plan.display_name}`}
        </Button>
      )}
    </li>
  );
}

function limitText(limit: number, noun: string, per = ''): string {
  if (limit === UNLIMITED) return `any number of ${noun}s${per}`;
  return `${count(limit)} ${noun}${limit === 1 ? '' : 's'}${per}`;
}
