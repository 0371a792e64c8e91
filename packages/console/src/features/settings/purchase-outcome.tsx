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
/** The provider mostly tells of a payment within seconds; whoever waits longer is told that it goes on by itself. */
const WATCHED_MS = 60_000;

/** Whether the plan that was ordered is there: paid, granted and in force. */
function isInForce(order: PaymentOrder, entitlement: Entitlement): boolean {
  return order.status === 'paid' && entitlement.status === 'active' && entitlement.plan_id === order.plan_id;
}

/**
 * What became of a purchase from which the buyer comes back. That he was led here proves nothing: the order
 * and the entitlement are read until they say so.
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
    order.data != null && entitlement.data !== undefined && isInForce(order.data, entitlement.data);
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
        {name} is paid and in force{until == null ? '' : ` until ${dateTime(until, 'UTC')} UTC`}.
      </Note>
    );
  }
  if (isWatching) {
    return (
      <Note icon={<Clock size={16} />}>
        {order.data?.status === 'paid'
          ? `${name} is paid. It is being put in force …`
          : 'Waiting for the payment provider to confirm the payment …'}
      </Note>
    );
  }
  return (
    <Note
      icon={<Clock size={16} />}
      action={
        <Button onClick={watchAgain}>
          <RotateCw size={14} />
          Look again
        </Button>
      }
    >
      The payment provider has not confirmed the payment yet. That can take some minutes; {name} is in force
      as soon as it has, and nothing has to be paid again.
    </Note>
  );
}

/** Says for a while after the start, and after each further one, that one is to look again and again. */
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
                Go on with it
              </Button>
            )}
            <Button look="quiet" onClick={onDismiss}>
              Dismiss
            </Button>
          </>
        }
      >
        Nothing was paid, and your plan is as it was.
        {pending !== undefined &&
          ` The checkout of ${pending.product_name} stays open until ${dateTime(pending.expires_at, 'UTC')} UTC.`}
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
