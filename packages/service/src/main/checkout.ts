import type { PaymentProviderName } from '@tollgate/contract';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import type { Entitlements } from '../modules/catalog/index.js';
import { createCheckout } from '../modules/checkout/index.js';
import { createSandbox } from '../modules/stripe-sandbox/index.js';
import type { TenancyService } from '../modules/tenancy/index.js';
import type { App } from '../platform/http/index.js';
import type { Logger } from '../platform/log/index.js';
import type { Metrics } from '../platform/metrics/index.js';
import type { Postgres } from '../platform/postgres/index.js';
import { ownUrl } from './own-url.js';

export interface CheckoutParts {
  readonly config: Config;
  readonly postgres: Postgres;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly entitlements: Entitlements;
  readonly tenancy: TenancyService;
}

/** Registers the routes of checkout; its jobs run once the application listens. Returns a function that ends them. */
export function startCheckout(
  app: App,
  { config, postgres, log, metrics, entitlements, tenancy }: CheckoutParts,
): () => Promise<void> {
  const checkout = createCheckout({
    postgres,
    tenants: tenancy,
    clock: systemClock,
    log,
    metrics,
    payments: {
      provider: config.paymentProvider,
      stripeApiKey: config.stripeApiKey,
      webhookSecrets: config.paymentWebhookSecrets ?? [],
      successUrl: config.checkoutSuccessUrl,
      cancelUrl: config.checkoutCancelUrl,
    },
    createSandbox,
    refundEndsPlan: config.refundEndsPlan,
    selfUrl: () => ownUrl(app, 'itself'),
    publicUrl: () => config.publicUrl ?? ownUrl(app, 'people'),
    applyGrants: (tenantId) => entitlements.applyGrants(tenantId),
  });
  checkout.registerRoutes(app);
  const problem = problemOf(config);
  if (problem !== undefined) log.warn(problem);
  const abort = new AbortController();
  let running: Promise<void> | undefined;
  app.addHook('onListen', async () => {
    running = checkout.run(abort.signal);
  });
  return async () => {
    abort.abort();
    await running;
  };
}

/** The configured payment provider; undefined if no plan can be bought. */
export function usableProvider(config: Config): PaymentProviderName | undefined {
  return missingSettings(config).length === 0 ? config.paymentProvider : undefined;
}

/**
 * Returns one sentence about settings that do not fit together, which an operator would otherwise hear from the first
 * buyer.
 */
function problemOf(config: Config): string | undefined {
  const missing = missingSettings(config);
  if (missing.length > 0) return `No plan can be bought without ${missing.join(', ')}.`;
  if (config.paymentProvider === 'stripe') return undefined;
  if (config.stripeApiKey !== undefined) {
    const use = config.paymentProvider === 'sandbox' ? 'payments go to the sandbox' : 'it is not used';
    return `TOLLGATE_STRIPE_API_KEY is set, but ${use}: set TOLLGATE_PAYMENT_PROVIDER to stripe.`;
  }
  return config.paymentProvider === undefined && config.baselinePlan === 'none'
    ? 'Tenants need a plan, but cannot buy one: set TOLLGATE_PAYMENT_PROVIDER, or grant plans to them.'
    : undefined;
}

/** Variables that the chosen provider needs and that are not set. */
function missingSettings(config: Config): string[] {
  if (config.paymentProvider !== 'stripe') return [];
  const needed = {
    TOLLGATE_STRIPE_API_KEY: config.stripeApiKey,
    TOLLGATE_PAYMENT_WEBHOOK_SECRET: config.paymentWebhookSecrets,
    TOLLGATE_CHECKOUT_SUCCESS_URL: config.checkoutSuccessUrl,
    TOLLGATE_CHECKOUT_CANCEL_URL: config.checkoutCancelUrl,
  };
  return Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []));
}
