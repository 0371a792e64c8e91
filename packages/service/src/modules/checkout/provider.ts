import type { PaymentProviderName } from '@tollgate/contract';

/** What a page to pay on is made of; all of it comes from the stored order, so that every retry asks for the same. */
export interface SessionRequest {
  /** One session for all requests with the same key, at the provider. */
  readonly idempotencyKey: string;
  readonly orderId: string;
  readonly tenantId: string;
  readonly planId: string;
  readonly productName: string;
  /** In minor units of the currency. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** When the page is to close, in Unix seconds. */
  readonly expiresAt: number;
}

/** A page to pay on. */
export interface ProviderSession {
  readonly id: string;
  readonly url: string;
  /** When it closes, in Unix seconds, as the provider says it. */
  readonly expiresAt: number;
}

/** Whoever takes the money. */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** @throws PaymentProviderError when there is no session, as far as we know */
  createSession(request: SessionRequest): Promise<ProviderSession>;
}

/** The provider refused, could not be reached, took too long, or answered what cannot be right. */
export class PaymentProviderError extends Error {
  override readonly name = 'PaymentProviderError';
}
