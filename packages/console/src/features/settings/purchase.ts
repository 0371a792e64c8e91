import type { CheckoutSession } from '@tollgate/contract';
import { ApiError } from '@tollgate/sdk/browser';
import { newIdempotencyKey } from '../../api/idempotency-key.js';
import { client } from '../../api/transport.js';

const KEY_STORAGE = 'tollgate.checkout-key.';
/** Purchases for the tenant of the session. */
const OWN_CHECKOUT_PATH = '/payments/provider/checkout-sessions';
const PROJECT_STORAGE = 'tollgate.checkout-project';

export interface Purchase {
  /** The buying tenant: the session's own, unless the service key buys for it. */
  readonly tenantId: string;
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
    const { status } = await client.tenant(wanted.tenantId).order(session.order_id);
    if (status !== 'paid') return session;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'payment_checkout_expired')) throw error;
  }
  sessionStorage.removeItem(KEY_STORAGE + wanted.planId);
  return begin(wanted);
}

function begin({ tenantId, planId, isService }: Purchase): Promise<CheckoutSession> {
  const key = sessionStorage.getItem(KEY_STORAGE + planId) ?? newIdempotencyKey();
  sessionStorage.setItem(KEY_STORAGE + planId, key);
  const body = { plan_id: planId };
  if (isService) return client.tenant(tenantId).checkout(body, { idempotencyKey: key });
  return client.request('POST', OWN_CHECKOUT_PATH, { body: JSON.stringify(body), idempotencyKey: key });
}

/** The project from which this tab opened a payment page; null if it did not. */
export function projectOfPurchase(): string | null {
  return sessionStorage.getItem(PROJECT_STORAGE);
}
