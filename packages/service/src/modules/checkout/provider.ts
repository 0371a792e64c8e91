import type { PaymentProviderName } from '@tollgate/contract';

/** The fields of a payment page. All of them come from the stored order, so that every retry sends the same. */
export interface SessionRequest {
  /** The provider keeps one session for all requests with the same key. */
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
  /** When the page must close, in Unix seconds. */
  readonly expiresAt: number;
}

/** A payment page. */
export interface ProviderSession {
  readonly id: string;
  readonly url: string;
  /** When the page closes, in Unix seconds, as the provider states it. */
  readonly expiresAt: number;
}

/** A payment provider. */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** @throws PaymentProviderError when no session is known to exist */
  createSession(request: SessionRequest): Promise<ProviderSession>;
}

/** The provider refused, could not be reached, took too long, or sent an invalid response. */
export class PaymentProviderError extends Error {
  override readonly name = 'PaymentProviderError';
}
