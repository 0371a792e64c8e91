import type { Entitlement, PaymentOrder } from '@tollgate/contract';
import { CircleCheck, Clock, RotateCw } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { nowMs } from '../../clock.js';
import { dateTime } from '../../format.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { FailureNote, ReadFailure } from '../../ui/states.js';
import { useEntitlement, useLastOrder, usePurchase } from './api.js';

const WATCH_MS = 1_000;
/** The provider confirms most payments within seconds. After this time, a note says that the buyer need not wait. */
const WATCHED_MS = 60_000;

/** Whether the ordered subscription plan is paid and active. */
function isActive(order: PaymentOrder, entitlement: Entitlement): boolean {
  return order.status === 'paid' && entitlement.status === 'active' && entitlement.plan_id === order.plan_id;
}

/**
 * The outcome of a purchase, shown when the buyer returns from the payment page. Returning proves nothing, so
 * the order and the entitlement are polled until they confirm it.
 */
export function PurchaseOutcome({
  outcome,
  onDismiss,
}: {
  readonly outcome: 'success' | 'cancel';
  readonly onDismiss: () => void;
}) {
  return outcome === 'success' ? <Paid onDismiss={onDismiss} /> : <Cancelled onDismiss={onDismiss} />;
}

function Paid({ onDismiss }: { readonly onDismiss: () => void }) {
  const [isWatching, watchAgain] = useWatch();
  const [isDone, setDone] = useState(false);
  const refetchInterval = isWatching && !isDone ? WATCH_MS : false;
  const order = useLastOrder({ refetchInterval });
  const entitlement = useEntitlement({ refetchInterval });
  const isNow =
    order.data != null && entitlement.data !== undefined && isActive(order.data, entitlement.data);
  useEffect(() => {
    if (isNow) setDone(true);
  }, [isNow]);
  if (order.isError) return <ReadFailure of={order} />;
  if (order.data === null) return null;
  const name = order.data?.product_name ?? 'The plan';
  if (isNow) {
    const until = entitlement.data?.ends_at;
    return (
      <Note isGood icon={<CircleCheck size={16} />} action={<Button onClick={onDismiss}>Done</Button>}>
        {name} is paid and active{until == null ? '' : ` until ${dateTime(until, 'UTC')} UTC`}.
      </Note>
    );
  }
  if (isWatching) {
    return (
      <Note icon={<Clock size={16} />}>
        {order.data?.status === 'paid'
          ? `${name} is paid and is being activated…`
          : 'Waiting for the payment provider to confirm the payment…'}
      </Note>
    );
  }
  return (
    <Note
      icon={<Clock size={16} />}
      action={
        <Button onClick={watchAgain}>
          <RotateCw size={14} />
          Check again
        </Button>
      }
    >
      The payment provider has not confirmed the payment yet. This can take a few minutes. {name} becomes
      active once it is confirmed; you do not need to pay again.
    </Note>
  );
}

/** Whether to keep polling: true for a while after the first render and after each call of `watchAgain`. */
function useWatch(): readonly [isWatching: boolean, watchAgain: () => void] {
  const [sinceMs, setSinceMs] = useState(nowMs);
  const [endedMs, setEndedMs] = useState<number>();
  useEffect(() => {
    const timer = setTimeout(() => setEndedMs(sinceMs), WATCHED_MS);
    return () => clearTimeout(timer);
  }, [sinceMs]);
  return [endedMs !== sinceMs, () => setSinceMs(nowMs())];
}

function Cancelled({ onDismiss }: { readonly onDismiss: () => void }) {
  const order = useLastOrder({ refetchInterval: false });
  const purchase = usePurchase();
  const pending = order.data?.status === 'pending' ? order.data : undefined;
  return (
    <>
      <Note
        icon={<Clock size={16} />}
        action={
          <>
            {pending !== undefined && (
              <Button isBusy={purchase.isPending} onClick={() => purchase.mutate(pending.plan_id)}>
                Continue checkout
              </Button>
            )}
            <Button look="quiet" onClick={onDismiss}>
              Dismiss
            </Button>
          </>
        }
      >
        No payment was made. Your plan has not changed.
        {pending !== undefined &&
          ` The checkout for ${pending.product_name} stays open until ${dateTime(pending.expires_at, 'UTC')} UTC.`}
      </Note>
      {purchase.isError && <FailureNote error={purchase.error} />}
    </>
  );
}

function Note({
  icon,
  isGood = false,
  action,
  children,
}: {
  readonly icon: ReactNode;
  readonly isGood?: boolean;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div
      role="status"
      className={classes(
        'flex flex-wrap items-center gap-3 rounded-lg px-3.5 py-2.5 text-[13px]',
        isGood ? 'bg-good-soft text-good' : 'bg-accent-soft text-accent',
      )}
    >
      {icon}
      <p className="min-w-0 grow">{children}</p>
      {action}
    </div>
  );
}
