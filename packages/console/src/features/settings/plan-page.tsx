import { type CatalogPlanList, type Entitlement, UNSOLD_PLAN_ID } from '@tollgate/contract';
import { useSearchParams } from 'wouter';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { useCatalog, useEntitlement, useIsAdmin } from './api.js';
import { CurrentPlan } from './current-plan.js';
import { Offer } from './offer.js';
import { Payments } from './payments.js';
import { PurchaseOutcome } from './purchase-outcome.js';

/** The current subscription plan and its usage, the plans on sale, and payments. */
export function SubscriptionPlanPage() {
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
      <CurrentPlan entitlement={entitlement.data} />
      <Plans entitlement={entitlement.data} isAdmin={isAdmin} />
      {isAdmin && <Payments />}
    </div>
  );
}

function Plans({ entitlement, isAdmin }: { readonly entitlement: Entitlement; readonly isAdmin: boolean }) {
  const catalog = useCatalog();
  const plans =
    catalog.data?.plans.filter(({ id, amount_minor }) => amount_minor > 0 && id !== UNSOLD_PLAN_ID) ?? [];
  const isSold = catalog.data?.payment_provider !== null;
  return (
    <section aria-label="Subscription plans">
      <h2 className="mb-3 text-[15px] font-semibold">Subscription plans</h2>
      {catalog.isError && <ReadFailure of={catalog} />}
      {catalog.isPending && <Skeleton className="h-64" />}
      <ul className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
        {plans.map((plan) => (
          <Offer key={plan.id} plan={plan} entitlement={entitlement} isSold={isSold} isAdmin={isAdmin} />
        ))}
      </ul>
      <p className="mt-3 text-[13px] text-ink-soft">{buyingText(catalog.data?.payment_provider, isAdmin)}</p>
    </section>
  );
}

/** The note about buying plans; null for an administrator who can pay for one. */
function buyingText(
  provider: CatalogPlanList['payment_provider'] | undefined,
  isAdmin: boolean,
): string | null {
  if (provider === null)
    return 'You cannot buy a plan here: this service takes no payments. Ask its operator for a plan.';
  if (!isAdmin) return 'To buy a plan, sign in with a key that has the permission tenant:admin.';
  return provider === 'sandbox' ? 'Payments go to a sandbox: no money is taken.' : null;
}
