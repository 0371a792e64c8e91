import { randomBytes } from 'node:crypto';
import { signatureHeader } from '../../packages/service/src/modules/checkout/signature.js';
import { PAYMENT_WEBHOOK_URL } from '../../packages/service/src/modules/checkout/webhook-routes.js';

/** A payment, as its order shows it. */
export interface PaidOrder {
  readonly payment_id: string;
  readonly amount_minor: number;
  readonly currency: string;
}

/** The provider's event of a refund of a payment, with all that was given back so far. */
export function refundOf({ payment_id: id, amount_minor, currency }: PaidOrder, refunded = amount_minor) {
  return eventOf('charge.refunded', {
    id: `ch_${id}`,
    object: 'charge',
    amount: amount_minor,
    amount_refunded: refunded,
    currency: currency.toLowerCase(),
    metadata: {},
    payment_intent: id,
    refunded: refunded === amount_minor,
  });
}

/** The provider's event of a payment that the buyer contests. */
export function disputeOf({ payment_id: id, amount_minor, currency }: PaidOrder) {
  return eventOf('charge.dispute.created', {
    id: `dp_${id}`,
    object: 'dispute',
    amount: amount_minor,
    charge: `ch_${id}`,
    currency: currency.toLowerCase(),
    metadata: {},
    payment_intent: id,
    reason: 'fraudulent',
    status: 'needs_response',
  });
}

/** Delivers an event as the provider does, signed now; returns the answer's status and body. */
export async function deliver(service: { url: string }, secret: string, event: object) {
  const body = Buffer.from(JSON.stringify(event));
  const nowS = Math.floor(Date.now() / 1_000);
  const answer = await fetch(service.url + PAYMENT_WEBHOOK_URL, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'payment-signature': signatureHeader(body, secret, nowS),
    },
    body,
  });
  return { status: answer.status, body: await answer.json() };
}

function eventOf(type: string, object: object) {
  const created = Math.floor(Date.now() / 1_000);
  return { id: `evt_${randomBytes(8).toString('hex')}`, object: 'event', type, created, data: { object } };
}
