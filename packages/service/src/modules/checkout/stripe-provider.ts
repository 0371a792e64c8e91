import type { PaymentProviderName } from '@tollgate/contract';
import type { Stripe } from 'stripe';
import { resultWithin } from '../../platform/wait.js';
import {
  type PaymentProvider,
  PaymentProviderError,
  type ProviderSession,
  type SessionRequest,
} from './provider.js';

/** Timeout of one request without a byte; the library's own default is 80 s. */
const REQUEST_MS_MAX = 8_000;
/** The library retries errors that may be temporary, with the same idempotency key. */
const RETRIES_MAX = 2;
/** Timeout of all attempts and pauses together: a person in front of a browser waits for the response. */
const SESSION_MS_MAX = 20_000;

export interface StripeProviderOptions {
  readonly name: PaymentProviderName;
  readonly apiKey: string;
  /** How the provider is reached; by default like Stripe itself. */
  readonly httpClient?: (library: typeof Stripe) => Stripe.HttpClient;
  /** For tests. */
  readonly sessionMsMax?: number;
}

/**
 * Creates a provider that takes payments with hosted Checkout Sessions, through Stripe's own library:
 * https://docs.stripe.com/api/checkout/sessions.
 */
export function createStripeProvider(options: StripeProviderOptions): PaymentProvider {
  const { name, apiKey, httpClient, sessionMsMax = SESSION_MS_MAX } = options;
  // The library takes 20 MB of memory, so it is loaded with the first purchase, which most processes never see.
  const connect = async () => {
    const { Stripe } = await import('stripe');
    return new Stripe(apiKey, {
      timeout: REQUEST_MS_MAX,
      maxNetworkRetries: RETRIES_MAX,
      telemetry: false,
      ...(httpClient === undefined ? {} : { httpClient: httpClient(Stripe) }),
    });
  };
  let stripe: Stripe | undefined;
  return {
    name,
    async createSession(request) {
      const { idempotencyKey } = request;
      try {
        stripe ??= await connect();
        const created = stripe.checkout.sessions.create(sessionParams(request), { idempotencyKey });
        return checkedSession(await answerWithin(created, sessionMsMax), request);
      } catch (error) {
        if (error instanceof PaymentProviderError) throw error;
        throw new PaymentProviderError(reasonOf(error), { cause: error });
      }
    },
  };
}

function sessionParams(request: SessionRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = {
    tenant_id: request.tenantId,
    plan_id: request.planId,
    order_id: request.orderId,
  };
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: request.currency.toLowerCase(),
          unit_amount: request.amountMinor,
          product_data: { name: request.productName },
        },
      },
    ],
    client_reference_id: request.orderId,
    // The webhook checks this copy: its events are about the payment, not the session.
    payment_intent_data: { metadata },
    metadata,
    // The payment must be of exactly the amount and currency of the order.
    adaptive_pricing: { enabled: false },
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
    expires_at: request.expiresAt,
  };
}

/** Returns the session. A session that would take another amount than the order's is refused. */
function checkedSession(session: Stripe.Checkout.Session, request: SessionRequest): ProviderSession {
  const { id, url, expires_at: expiresAt, amount_total: amount, currency } = session;
  if (amount !== request.amountMinor || currency !== request.currency.toLowerCase()) {
    throw new PaymentProviderError(`session ${id} takes ${amount} ${currency}, not the amount of the order`);
  }
  if (typeof url !== 'string') throw new PaymentProviderError(`session ${id} has no URL`);
  return { id, url, expiresAt };
}

/** The library bounds the silence of a connection; this bounds the whole call. */
function answerWithin<T>(work: Promise<T>, msMax: number): Promise<T> {
  return resultWithin(work, msMax, () => new PaymentProviderError(`no response within ${msMax} ms`));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { type, code, statusCode } = error as Partial<Stripe.errors.StripeError>;
  return [type, code, statusCode, error.message].filter(Boolean).join(' ');
}
