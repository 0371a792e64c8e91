import type { CheckoutSession, PaymentOrder } from '@tollgate/contract';
import { ApiFailure, request } from '../../api/client.js';
import { newIdempotencyKey } from '../../api/idempotency-key.js';

const KEY_STORAGE = 'tollgate.checkout-key.';
const PROJECT_STORAGE = 'tollgate.checkout-project';

export interface Purchase {
  /** API path of the buying tenant: the session's own, unless the service key buys for it. */
  readonly tenantPath: string;
  /** The project from which the buyer starts, and to which the buyer returns. */
  readonly projectId: string;
  readonly planId: string;
  readonly isService: boolean;
}

/**
 * Creates or reuses the payment page of a plan. The idempotency key of the purchase is kept for this tab, so
 * that a second click leads to the same page. If that purchase has expired or is paid, a new one begins.
 */
export async function purchase(wanted: Purchase): Promise<CheckoutSession> {
  sessionStorage.setItem(PROJECT_STORAGE, wanted.projectId);
  try {
    const session = await begin(wanted);
    const orderPath = `${wanted.tenantPath}/payments/orders/${session.order_id}`;
    const { status } = await request<PaymentOrder>('GET', orderPath);
    if (status !== 'paid') return session;
  } catch (error) {
    if (!(error instanceof ApiFailure && error.code === 'payment_checkout_expired')) throw error;
  }
  sessionStorage.removeItem(KEY_STORAGE + wanted.planId);
  return begin(wanted);
}

function begin({ tenantPath, planId, isService }: Purchase): Promise<CheckoutSession> {
  const key = sessionStorage.getItem(KEY_STORAGE + planId) ?? newIdempotencyKey();
  sessionStorage.setItem(KEY_STORAGE + planId, key);
  return request('POST', `${isService ? tenantPath : ''}/payments/provider/checkout-sessions`, {
    body: { plan_id: planId },
    headers: { 'idempotency-key': key },
  });
}

/** The project from which this tab opened a payment page; null if it did not. */
export function projectOfPurchase(): string | null {
  return sessionStorage.getItem(PROJECT_STORAGE);
}
