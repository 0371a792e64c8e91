import type { PaymentProviderName } from '@tollgate/contract';
import type { Stripe } from 'stripe';
import { resultWithin } from '../../platform/wait.js';
import {
  type PaymentProvider,
  PaymentProviderError,
  type ProviderSession,
  type SessionRequest,
} from './provider.js';

/** One request may take so long without a byte; the library's own default is 80 s. */
const REQUEST_MS_MAX = 8_000;
/** The library repeats what may succeed later, under the same idempotency key. */
const RETRIES_MAX = 2;
/** All attempts and pauses together: whoever waits for the answer is a person in front of a browser. */
const SESSION_MS_MAX = 20_000;

export interface StripeProviderOptions {
  readonly name: PaymentProviderName;
  readonly apiKey: string;
  /** How the provider is reached; by default as Stripe is. */
  readonly httpClient?: (library: typeof Stripe) => Stripe.HttpClient;
  /** For tests. */
  readonly sessionMsMax?: number;
}

/**
 * Payments by hosted Checkout Sessions, through Stripe's own library:
 * https://docs.stripe.com/api/checkout/sessions.
 */
export function createStripeProvider(options: StripeProviderOptions): PaymentProvider {
  const { name, apiKey, httpClient, sessionMsMax = SESSION_MS_MAX } = options;
  // The library is 20 MB in memory: it is loaded when somebody buys, which most processes never see.
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
    // What the webhook is checked by: it tells of the payment, not of the session.
    payment_intent_data: { metadata },
    metadata,
    // The payment must be of exactly the amount and currency of the order.
    adaptive_pricing: { enabled: false },
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
    expires_at: request.expiresAt,
  };
}

/** A session that would take other money than the order says is none. */
function checkedSession(session: Stripe.Checkout.Session, request: SessionRequest): ProviderSession {
  const { id, url, expires_at: expiresAt, amount_total: amount, currency } = session;
  if (amount !== request.amountMinor || currency !== request.currency.toLowerCase()) {
    throw new PaymentProviderError(`session ${id} is over ${amount} ${currency}`);
  }
  if (typeof url !== 'string') throw new PaymentProviderError(`session ${id} has no URL`);
  return { id, url, expiresAt };
}

/** The library bounds the silence of a connection, not the whole. */
function answerWithin<T>(work: Promise<T>, msMax: number): Promise<T> {
  return resultWithin(work, msMax, () => new PaymentProviderError(`no answer within ${msMax} ms`));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { type, code, statusCode } = error as Partial<Stripe.errors.StripeError>;
  return [type, code, statusCode, error.message].filter(Boolean).join(' ');
}
