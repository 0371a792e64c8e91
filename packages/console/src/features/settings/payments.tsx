import type { PaymentOrder } from '@tollgate/contract';
import { dateTime, price } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { ReadFailure } from '../../ui/states.js';
import { usePayments } from './api.js';

/** The latest payments and their status. */
export function Payments() {
  const payments = usePayments();
  if (payments.isError) return <ReadFailure of={payments} />;
  if (payments.data === undefined || payments.data.length === 0) return null;
  return (
    <section aria-label="Payments">
      <h2 className="mb-3 text-[15px] font-semibold">Payments</h2>
      <ul className="divide-y divide-line rounded-xl border border-line bg-panel text-[13px] shadow-xs">
        {payments.data.map((order) => (
          <Payment key={order.order_id} order={order} />
        ))}
      </ul>
    </section>
  );
}

function Payment({ order }: { readonly order: PaymentOrder }) {
  const { currency, refunded_amount_minor: refunded, reversals } = order;
  const isDisputed = reversals.some(({ kind }) => kind === 'dispute');
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-5 py-3">
      <span className="font-medium">{order.product_name}</span>
      {refunded > 0 && <Badge tone="warn">{price(refunded, currency)} refunded</Badge>}
      {isDisputed && <Badge tone="bad">disputed</Badge>}
      <span className="tabular ml-auto">{price(order.amount_minor, currency)}</span>
      {order.paid_at !== null && (
        <span className="text-xs text-ink-faint">{dateTime(order.paid_at, 'UTC')} UTC</span>
      )}
    </li>
  );
}
