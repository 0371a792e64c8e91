import type { Clock } from '../../kernel/clock.js';
import type { App } from '../../platform/http/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { type CheckoutSettings, Checkouts } from './checkouts.js';
import { registerCheckoutRoutes } from './routes.js';
import { createSandbox, newSecret } from './sandbox/index.js';
import { Settlement } from './settlement.js';
import { createStripeProvider } from './stripe-provider.js';
import { PAYMENT_WEBHOOK_URL, registerPaymentWebhookRoutes } from './webhook-routes.js';

export { recountPurchases } from './purchase-recount-store.js';

/** How plans are paid. */
export interface PaymentSettings {
  readonly provider: 'sandbox' | 'stripe';
  readonly stripeApiKey: string | undefined;
  /** Any of them may have signed an event; the sandbox signs with the first. */
  readonly webhookSecrets: readonly string[];
  readonly successUrl: string | undefined;
  readonly cancelUrl: string | undefined;
}

export interface CheckoutOptions {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  readonly payments: PaymentSettings;
  /** Where this process answers, for itself; asked when it is needed, as the port may not be known before. */
  readonly selfUrl: () => string;
  /** Where browsers reach the service. */
  readonly publicUrl: () => string;
  /** Done after a grant is committed. */
  readonly initializeQuota: (tenantId: string) => Promise<void>;
}

export interface Checkout {
  registerRoutes(app: App): void;
  /** Does what is to be done beside requests until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Purchases of plans with whatever provider is configured. Of the sandbox there is nothing when it is another one. */
export function createCheckout(options: CheckoutOptions): Checkout {
  return options.payments.provider === 'sandbox' ? withSandbox(options) : withStripe(options);
}

function withSandbox(options: CheckoutOptions): Checkout {
  const { payments } = options;
  const [webhookSecret = newSecret()] = payments.webhookSecrets;
  const secrets = payments.webhookSecrets.length === 0 ? [webhookSecret] : payments.webhookSecrets;
  const sandbox = createSandbox({ ...options, webhookPath: PAYMENT_WEBHOOK_URL, webhookSecret });
  const settings = {
    provider: sandbox.provider,
    successUrl: () => payments.successUrl ?? sandbox.successUrl(),
    cancelUrl: () => payments.cancelUrl ?? sandbox.cancelUrl(),
  };
  return {
    registerRoutes(app) {
      registerRoutes(app, options, settings, secrets);
      sandbox.registerRoutes(app);
    },
    run: (signal) => sandbox.run(signal),
  };
}

function withStripe(options: CheckoutOptions): Checkout {
  const { stripeApiKey: apiKey, webhookSecrets, successUrl, cancelUrl } = options.payments;
  // Without a secret no payment would ever be noticed: then none is begun.
  const isComplete = apiKey !== undefined && webhookSecrets.length > 0;
  const settings = {
    provider: isComplete ? createStripeProvider({ name: 'stripe', apiKey }) : undefined,
    successUrl: () => successUrl,
    cancelUrl: () => cancelUrl,
  };
  return {
    registerRoutes: (app) => registerRoutes(app, options, settings, webhookSecrets),
    run: async () => {},
  };
}

function registerRoutes(
  app: App,
  options: CheckoutOptions,
  settings: CheckoutSettings,
  secrets: readonly string[],
): void {
  const { provider } = options.payments;
  registerCheckoutRoutes(app, new Checkouts({ ...options, ...settings }));
  registerPaymentWebhookRoutes(app, new Settlement({ ...options, provider, secrets }));
}
