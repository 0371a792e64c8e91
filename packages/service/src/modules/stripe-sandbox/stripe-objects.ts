import { type SandboxSession, stateOf } from './session.js';

/** The version of Stripe's API whose objects these are: the one that Stripe's library uses. */
export const STRIPE_API_VERSION = '2026-10-28.endive';

/** Returns the fields of https://docs.stripe.com/api/checkout/sessions/object that the sandbox supports. */
export function sessionObject(session: SandboxSession, url: string, nowS: number) {
  const state = stateOf(session, nowS);
  return {
    id: session.id,
    object: 'checkout.session',
    amount_subtotal: session.amountMinor,
    amount_total: session.amountMinor,
    cancel_url: session.cancelUrl,
    created: session.createdAt,
    currency: session.currency,
    expires_at: session.expiresAt,
    livemode: false,
    mode: 'payment',
    payment_intent: state === 'complete' ? session.paymentIntentId : null,
    payment_status: state === 'complete' ? 'paid' : 'unpaid',
    status: state,
    success_url: session.successUrl,
    url: state === 'open' ? url : null,
  };
}

export type PaymentOutcome = 'succeeded' | 'payment_failed';

/** Returns an event about the session's payment, https://docs.stripe.com/api/events/object, as JSON text. */
export function paymentEvent(
  eventId: string,
  session: SandboxSession,
  outcome: PaymentOutcome,
  nowS: number,
): string {
  return JSON.stringify({
    id: eventId,
    object: 'event',
    api_version: STRIPE_API_VERSION,
    created: nowS,
    data: { object: paymentIntent(session, outcome) },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: `payment_intent.${outcome}`,
  });
}

/** Returns the fields of https://docs.stripe.com/api/payment_intents/object that the sandbox supports. */
function paymentIntent(session: SandboxSession, outcome: PaymentOutcome) {
  const isPaid = outcome === 'succeeded';
  return {
    id: session.paymentIntentId,
    object: 'payment_intent',
    amount: session.amountMinor,
    amount_capturable: 0,
    amount_received: isPaid ? session.amountMinor : 0,
    capture_method: 'automatic_async',
    created: session.createdAt,
    currency: session.currency,
    description: null,
    last_payment_error: isPaid
      ? null
      : { type: 'card_error', code: 'card_declined', decline_code: 'generic_decline' },
    livemode: false,
    metadata: session.paymentMetadata,
    payment_method_types: ['card'],
    status: isPaid ? 'succeeded' : 'requires_payment_method',
  };
}
