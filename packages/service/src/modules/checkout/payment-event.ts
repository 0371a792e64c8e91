import { isUsableText } from '../../platform/http/index.js';

/** What a verified event says of a payment that went through. */
export interface Payment {
  /** The provider's id of it. */
  readonly id: string;
  /** In minor units of the currency. */
  readonly amountMinor: number;
  /** In lower case, as providers write it. */
  readonly currency: string;
  readonly tenantId: string;
  readonly planId: string;
  readonly orderId: string;
}

/** A payment, `malformed` when it is not one that could have paid an order, or undefined for an event of another kind. */
export type ReadPayment = Payment | 'malformed' | undefined;

export const PAYMENT_SUCCEEDED = 'payment_intent.succeeded';
/** More than any id has. */
const TEXT_CHARS_MAX = 255;

/**
 * Reads an event as Stripe sends it: https://docs.stripe.com/api/events/object with a
 * https://docs.stripe.com/api/payment_intents/object inside. Nothing of it is kept but what is answered here.
 *
 * @param event the JSON of a body whose signature was verified
 */
export function readPayment(event: unknown): ReadPayment {
  const { type, data } = objectOf(event);
  if (type !== PAYMENT_SUCCEEDED) return undefined;
  const payment = objectOf(objectOf(data).object);
  const { id, object = 'payment_intent', status, amount, currency, metadata } = payment;
  // What was received is what counts; Stripe always says it.
  const { amount_received: received = amount } = payment;
  const { tenant_id: tenantId, plan_id: planId, order_id: orderId } = objectOf(metadata);
  if (object !== 'payment_intent' || status !== 'succeeded') return 'malformed';
  if (!isAmount(amount) || received !== amount) return 'malformed';
  if (!isText(id) || !isText(currency) || !isText(tenantId) || !isText(planId) || !isText(orderId))
    return 'malformed';
  return { id, amountMinor: amount, currency: currency.toLowerCase(), tenantId, planId, orderId };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Text of a bounded length that PostgreSQL can be asked for. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX && isUsableText(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
