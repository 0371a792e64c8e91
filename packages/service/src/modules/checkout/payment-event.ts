import { isUsableText } from '../../kernel/usable-text.js';
import type { Reversal } from './order.js';

/** The fields of a verified event about a successful payment. */
export interface Payment {
  readonly kind: 'payment';
  /** The provider's id of the payment. */
  readonly id: string;
  /** In minor units of the currency. */
  readonly amountMinor: number;
  /** In lower case, as providers write it. */
  readonly currency: string;
  readonly tenantId: string;
  readonly planId: string;
  readonly orderId: string;
}

/** The data of a verified event about a refunded or disputed payment. */
export interface ReversalEvent extends Omit<Reversal, 'recordedAt'> {
  /** The provider's id of the payment. */
  readonly paymentId: string;
  /** Order and tenant in the charge's metadata, which is a copy of its payment's. Disputes have none. */
  readonly named: { readonly orderId: string; readonly tenantId: string } | undefined;
}

/**
 * An event about a payment, `malformed` for a payment that names no order or has not succeeded, or undefined for any
 * other event.
 */
export type ReadEvent = Payment | ReversalEvent | 'malformed' | undefined;

/** Longer than any id. */
const TEXT_CHARS_MAX = 255;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads an event as Stripe sends it: https://docs.stripe.com/api/events/object with a payment intent, a charge or a
 * dispute inside. Only the returned fields are kept.
 *
 * @param event the JSON of a body whose signature was verified
 */
export function readEvent(event: unknown): ReadEvent {
  const { type, data } = objectOf(event);
  const object = objectOf(objectOf(data).object);
  switch (type) {
    case 'payment_intent.succeeded':
      return readPayment(object);
    case 'charge.refunded':
      return readRefund(object);
    case 'charge.dispute.created':
      return readDispute(object);
    default:
      return undefined;
  }
}

/** https://docs.stripe.com/api/payment_intents/object */
function readPayment(payment: Fields): Payment | 'malformed' {
  const { id, object = 'payment_intent', status, amount, currency } = payment;
  const metadata = objectOf(payment.metadata);
  // The received amount counts; Stripe always sends it.
  const { amount_received: received = amount } = payment;
  const { tenant_id: tenantId, plan_id: planId, order_id: orderId } = metadata;
  if (object !== 'payment_intent' || status !== 'succeeded') return 'malformed';
  if (!isAmount(amount) || received !== amount) return 'malformed';
  if (!isText(id) || !isText(currency) || !isText(tenantId) || !isText(planId) || !isText(orderId))
    return 'malformed';
  return {
    kind: 'payment',
    id,
    amountMinor: amount,
    currency: currency.toLowerCase(),
    tenantId,
    planId,
    orderId,
  };
}

/** https://docs.stripe.com/api/charges/object */
function readRefund(charge: Fields): ReversalEvent | undefined {
  const { order_id: orderId, tenant_id: tenantId } = objectOf(charge.metadata);
  const named = isText(orderId) && isText(tenantId) ? { orderId, tenantId } : undefined;
  return readReversal('refund', charge, { amount: charge.amount_refunded, reason: null, named });
}

/** https://docs.stripe.com/api/disputes/object */
function readDispute(dispute: Fields): ReversalEvent | undefined {
  const reason = isText(dispute.reason) ? dispute.reason : null;
  return readReversal('dispute', dispute, { amount: dispute.amount, reason, named: undefined });
}

/**
 * Returns undefined for events that are not about our payments, which have a payment intent in either of Stripe's
 * forms.
 */
function readReversal(
  kind: ReversalEvent['kind'],
  object: Fields,
  { amount, reason, named }: Pick<ReversalEvent, 'reason' | 'named'> & { amount: unknown },
): ReversalEvent | undefined {
  const { id: reference, payment_intent: intent, currency } = object;
  const paymentId = typeof intent === 'string' ? intent : objectOf(intent).id;
  if (!isText(paymentId) || !isText(reference) || !isText(currency) || !isAmount(amount)) return undefined;
  return {
    kind,
    paymentId,
    reference,
    amountMinor: amount,
    currency: currency.toLowerCase(),
    reason,
    named,
  };
}

function objectOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Whether a value is text of a bounded length that PostgreSQL accepts. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX && isUsableText(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
