import {
  type CatalogPlan,
  CHECKOUT_ABANDONED_MINUTES,
  CHECKOUT_MINUTES,
  type PaymentOrderStatus,
  type PaymentProviderName,
  type PaymentReversalKind,
} from '@tollgate/contract';

const SECONDS_PER_MINUTE = 60;
export const ORDER_LIFETIME_S = CHECKOUT_MINUTES * SECONDS_PER_MINUTE;
export const ABANDONED_AFTER_S = CHECKOUT_ABANDONED_MINUTES * SECONDS_PER_MINUTE;

/** A refund, in part or in full, or a dispute of a payment. */
export interface Reversal {
  readonly kind: PaymentReversalKind;
  /** The provider's id of the refunded charge, or of the dispute. */
  readonly reference: string;
  /** In minor units: the total refunds of the charge so far, or the disputed amount. */
  readonly amountMinor: number;
  /** In lower case, as providers write it. */
  readonly currency: string;
  /** The provider's reason; null if there is none. */
  readonly reason: string | null;
  /** Unix seconds; for a refund, when its amount last grew. */
  readonly recordedAt: number;
}

/** A tenant's purchase of a plan. All times are Unix seconds. */
export interface Order {
  readonly id: string;
  readonly tenantId: string;
  readonly status: PaymentOrderStatus;
  /** The plan as it was when it was ordered: this is what is paid and granted. */
  readonly plan: CatalogPlan;
  readonly productName: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** Set when the order is created. */
  readonly expiresAt: number;
  readonly provider: PaymentProviderName;
  /** Set together, once. */
  readonly sessionId: string | null;
  readonly sessionUrl: string | null;
  readonly sessionExpiresAt: number | null;
  /** Set together, once. */
  readonly paymentId: string | null;
  readonly paidAt: number | null;
  readonly createdAt: number;
  /** Refunds and disputes of the payment, oldest first. */
  readonly reversals: readonly Reversal[];
}

/** Returns the source of the grant that an order's payment makes. */
export function grantSourceOf({ provider }: Order, paymentId: string): string {
  return `${provider}:${paymentId}`;
}

/**
 * Whether a pending order has expired, so that it no longer blocks another one.
 *
 * With a page, that is when the page closes. Without one, it is when a new page could be refused: a page must stay open
 * for at least 30 minutes, and the order ends after 36.
 */
export function isOver(order: Order, nowS: number): boolean {
  if (order.sessionId === null) return nowS >= order.createdAt + ABANDONED_AFTER_S;
  return nowS >= endOf(order);
}

/** Returns when the order expires, in Unix seconds. The end that the provider states for its page takes precedence. */
export function endOf({ expiresAt, sessionExpiresAt }: Order): number {
  return sessionExpiresAt ?? expiresAt;
}
