import type { PaymentProviderName } from '@tollgate/contract';
import { sql } from 'kysely';
import { type Db, lockUntilCommit, type Tx } from '../../platform/postgres/index.js';
import type { Order, Reversal } from './order.js';
import type { ReversalEvent } from './payment-event.js';

/** Serializes events about one payment until `tx` ends, so that a dispute and its payment always find each other. */
export async function lockPayment(tx: Tx, provider: PaymentProviderName, paymentId: string): Promise<void> {
  await lockUntilCommit(tx, `tollgate/payment/${provider}:${paymentId}`);
}

/** Id and tenant of the order that a payment has paid. Only for provider events, which concern all tenants. */
export async function findOrderOfPayment(
  db: Db,
  provider: PaymentProviderName,
  paymentId: string,
): Promise<Pick<Order, 'tenantId' | 'id'> | undefined> {
  const { rows } = await sql<Pick<Order, 'tenantId' | 'id'>>`
    select tenant_id as "tenantId", id from payment_orders
    where provider = ${provider} and payment_id = ${paymentId}
  `.execute(db);
  return rows[0];
}

/** Records a reversal. Returns whether it is news; an older report of a refund is not. */
export async function recordReversal(
  tx: Tx,
  provider: PaymentProviderName,
  event: ReversalEvent,
  recordedAt: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into payment_reversals as known
      (provider, payment_id, kind, reference, amount_minor, currency, reason, recorded_at)
    values (${provider}, ${event.paymentId}, ${event.kind}, ${event.reference}, ${event.amountMinor},
      ${event.currency}, ${event.reason}, ${recordedAt})
    on conflict (provider, payment_id, kind, reference) do update
      set amount_minor = excluded.amount_minor, recorded_at = excluded.recorded_at
      where excluded.kind = 'refund' and excluded.amount_minor > known.amount_minor
  `.execute(tx);
  return numAffectedRows === 1n;
}

export async function reversalsOfPayment(
  db: Db,
  provider: PaymentProviderName,
  paymentId: string,
): Promise<Reversal[]> {
  const { rows } = await sql<Reversal>`
    select kind, reference, amount_minor as "amountMinor", currency, reason, recorded_at as "recordedAt"
    from payment_reversals where provider = ${provider} and payment_id = ${paymentId}
    order by recorded_at, kind, reference
  `.execute(db);
  return rows;
}

/** Deletes older records about payments that have paid no order. */
export async function forgetUnmatched(tx: Tx, recordedBeforeS: number): Promise<void> {
  await sql`
    delete from payment_reversals reversal
    where recorded_at < ${recordedBeforeS} and not exists (
      select from payment_orders o where o.provider = reversal.provider and o.payment_id = reversal.payment_id)
  `.execute(tx);
}
