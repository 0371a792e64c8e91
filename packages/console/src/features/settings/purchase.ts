import type { CheckoutSession, PaymentOrder } from '@tollgate/contract';
import { ApiFailure, request } from '../../api/client.js';
import { newIdempotencyKey } from '../../api/idempotency-key.js';

const KEY_STORAGE = 'tollgate.checkout-key.';

/**
 * The page on which a plan is paid. The key of the purchase is kept for this tab, so that a second click leads to the same page; a
 * purchase that is over, because it has expired or was paid, is followed by another one.
 *
 * @param tenantPath path of the tenant that buys, which is that of the session
 */
export async function purchase(tenantPath: string, planId: string): Promise<CheckoutSession> {
  try {
    const session = await begin(planId);
    const orderPath = `${tenantPath}/payments/orders/${session.order_id}`;
    const { status } = await request<PaymentOrder>('GET', orderPath);
    if (status !== 'paid') return session;
  } catch (error) {
    if (!(error instanceof ApiFailure && error.code === 'payment_checkout_expired')) throw error;
  }
  sessionStorage.removeItem(KEY_STORAGE + planId);
  return begin(planId);
}

function begin(planId: string): Promise<CheckoutSession> {
  const key = sessionStorage.getItem(KEY_STORAGE + planId) ?? newIdempotencyKey();
  sessionStorage.setItem(KEY_STORAGE + planId, key);
  return request('POST', '/payments/provider/checkout-sessions', {
    body: { plan_id: planId },
    headers: { 'idempotency-key': key },
  });
}
