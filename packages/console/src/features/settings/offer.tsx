import type { CatalogPlan, Entitlement } from '@tollgate/contract';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { useState } from 'react';
import { price } from '../../format.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { FailureNote } from '../../ui/states.js';
import { usePurchase } from './api.js';
import { type ComparedAllowance, comparePlan, lossesOf } from './plan-comparison.js';

/** A subscription plan on sale, compared with the current one. A plan that gives less needs confirmation. */
export function Offer({
  plan,
  entitlement,
  isSold,
  isAdmin,
}: {
  readonly plan: CatalogPlan;
  readonly entitlement: Entitlement;
  /** Whether the service takes payments. */
  readonly isSold: boolean;
  readonly isAdmin: boolean;
}) {
  const purchase = usePurchase();
  const [isAsking, setAsking] = useState(false);
  const isCurrent = plan.id === entitlement.plan_id;
  const losses = lossesOf(entitlement, plan);
  const buy = () => purchase.mutate(plan.id);
  return (
    <li
      aria-label={plan.display_name}
      className={classes(
        'flex flex-col rounded-xl border bg-panel p-5 shadow-xs',
        isCurrent ? 'border-accent' : 'border-line',
      )}
    >
      <div className="flex items-baseline gap-2">
        <h3 className="text-[15px] font-semibold">{plan.display_name}</h3>
        <span className="tabular ml-auto font-semibold">{price(plan.amount_minor, plan.currency)}</span>
        <span className="text-xs text-ink-faint">per month</span>
      </div>
      <dl className="mt-3 mb-5 flex flex-col gap-1.5 text-[13px]">
        {comparePlan(entitlement, plan).map((allowance) => (
          <Allowance key={allowance.name} allowance={allowance} />
        ))}
      </dl>
      {purchase.isError && !isAsking && <FailureNote error={purchase.error} />}
      {isSold && (
        <Button
          look={isCurrent ? 'plain' : 'primary'}
          className="mt-auto"
          isBusy={purchase.isPending}
          disabled={!isAdmin}
          onClick={() => (losses.length === 0 ? buy() : setAsking(true))}
        >
          {isCurrent ? 'Buy another month' : `Buy ${plan.display_name}`}
        </Button>
      )}
      <ConfirmDialog
        title={`What you lose with ${plan.display_name}`}
        action={`Buy ${plan.display_name} anyway`}
        change={purchase}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={buy}
      >
        <Losses losses={losses} />
      </ConfirmDialog>
    </li>
  );
}

function Losses({ losses }: { readonly losses: readonly string[] }) {
  return (
    <ul className="flex list-disc flex-col gap-1.5 pl-4">
      {losses.map((loss) => (
        <li key={loss}>{loss}</li>
      ))}
    </ul>
  );
}

const CHANGE_TONES = { less: 'text-warn', same: 'text-ink-soft', more: 'text-good' } as const;

function Allowance({ allowance }: { readonly allowance: ComparedAllowance }) {
  const { name, present, offered, change } = allowance;
  return (
    <div className="flex items-baseline gap-3">
      <dt className="min-w-0 text-ink-soft">{name}</dt>
      <dd className={classes('tabular ml-auto shrink-0 text-right font-medium', CHANGE_TONES[change])}>
        <span className="inline-flex items-center gap-1">
          {change === 'less' && <ArrowDown size={13} aria-label="less than now" />}
          {change === 'more' && <ArrowUp size={13} aria-label="more than now" />}
          {offered}
        </span>
        {change === 'less' && <span className="block text-xs font-normal text-ink-faint">now {present}</span>}
      </dd>
    </div>
  );
}
