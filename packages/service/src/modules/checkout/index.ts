import type { PaymentProviderName } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import type { Metrics } from '../../platform/metrics/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { repeat } from '../../platform/wakeup.js';
import type { TenancyService } from '../tenancy/index.js';
import { allCheckoutRoutes, type RegisterRoutes } from './all-routes.js';
import { type CheckoutSettings, Checkouts } from './checkouts.js';
import { countOrders } from './order-store.js';
import { PaymentMetrics } from './payment-metrics.js';
import type { PaymentSandbox, SandboxOptions } from './sandbox.js';
import { OrderSettlement } from './settlement.js';
import { randomSecret } from './signature.js';
import { createStripeProvider } from './stripe-provider.js';
import { PAYMENT_WEBHOOK_URL } from './webhook-routes.js';

export type { RegisterRoutes } from './all-routes.js';
export type { PaymentProvider } from './provider.js';
export { recountPurchases } from './purchase-recount-store.js';
export type { PaymentSandbox, SandboxOptions } from './sandbox.js';
export { randomSecret, signatureHeader } from './signature.js';
export { createStripeProvider } from './stripe-provider.js';

/** Interval at which the orders are counted for metrics. */
const MEASURE_POLL_MS = 15_000;

/** The configuration of payments. */
export interface PaymentSettings {
  /** Undefined when no plan can be bought. */
  readonly provider: PaymentProviderName | undefined;
  readonly stripeApiKey: string | undefined;
  /** Any of them may have signed an event; the sandbox signs with the first. */
  readonly webhookSecrets: readonly string[];
  readonly successUrl: string | undefined;
  readonly cancelUrl: string | undefined;
}

export interface CheckoutOptions {
  readonly postgres: Postgres;
  readonly tenants: Pick<TenancyService, 'getTenant'>;
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  readonly metrics: Metrics;
  readonly payments: PaymentSettings;
  /** Creates the sandbox when it is the configured provider. */
  readonly createSandbox: (options: SandboxOptions) => PaymentSandbox;
  /** Whether a refunded or disputed payment ends its plan. */
  readonly refundEndsPlan: boolean;
  /** Returns the URL at which this process can call itself; a function, because the port may not be known before. */
  readonly selfUrl: () => string;
  /** Returns the URL at which browsers reach the service. */
  readonly publicUrl: () => string;
  /** Called after a change of a tenant's grants is committed. */
  readonly applyGrants: (tenantId: string) => Promise<void>;
}

export interface Checkout {
  readonly registerRoutes: RegisterRoutes;
  /** Runs the background work until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Creates the purchase of plans with the configured provider, if any. The sandbox exists only if it is that provider.
 */
export function createCheckout(options: CheckoutOptions): Checkout {
  const metrics = new PaymentMetrics(options.metrics);
  const parts = partsOf({ ...options, metrics });
  return {
    registerRoutes: parts.registerRoutes,
    run: async (signal) => {
      await Promise.all([parts.run(signal), measureOrders(options, metrics, signal)]);
    },
  };
}

/** The parts that differ between providers. */
interface ProviderParts {
  readonly registerRoutes: RegisterRoutes;
  run(signal: AbortSignal): Promise<void>;
}

function partsOf(options: ProviderOptions): ProviderParts {
  switch (options.payments.provider) {
    case 'sandbox':
      return withSandbox(options);
    case 'stripe':
      return withStripe(options);
    case undefined:
      return withoutProvider(options);
  }
}

function measureOrders(
  { postgres, log }: CheckoutOptions,
  metrics: PaymentMetrics,
  signal: AbortSignal,
): Promise<void> {
  return repeat(async () => metrics.orders(await countOrders(postgres.db)), signal, {
    pollMs: MEASURE_POLL_MS,
    onFailure: (err) => log.warn({ err }, 'could not count orders'),
  });
}

function withSandbox(options: ProviderOptions): ProviderParts {
  const { payments } = options;
  const [webhookSecret = randomSecret()] = payments.webhookSecrets;
  const secrets = payments.webhookSecrets.length === 0 ? [webhookSecret] : payments.webhookSecrets;
  const sandbox = options.createSandbox({ ...options, webhookPath: PAYMENT_WEBHOOK_URL, webhookSecret });
  const settings = {
    takesPayments: true,
    provider: sandbox.provider,
    successUrl: () => payments.successUrl ?? sandbox.successUrl(),
    cancelUrl: () => payments.cancelUrl ?? sandbox.cancelUrl(),
  };
  const registerCheckoutRoutes = routesOf({ ...options, ...settings, secrets });
  return {
    registerRoutes(app) {
      registerCheckoutRoutes(app);
      sandbox.registerRoutes(app);
    },
    run: (signal) => sandbox.run(signal),
  };
}

function withStripe(options: ProviderOptions): ProviderParts {
  const { stripeApiKey: apiKey, webhookSecrets: secrets, successUrl, cancelUrl } = options.payments;
  // Without a secret no payment could ever be verified, so none is started.
  const isComplete = apiKey !== undefined && secrets.length > 0;
  const settings = {
    takesPayments: true,
    provider: isComplete ? createStripeProvider({ name: 'stripe', apiKey }) : undefined,
    successUrl: () => successUrl,
    cancelUrl: () => cancelUrl,
  };
  return {
    registerRoutes: routesOf({ ...options, ...settings, secrets }),
    run: async () => {},
  };
}

/** Orders can still be read; every purchase is refused. */
function withoutProvider(options: ProviderOptions): ProviderParts {
  const settings = {
    takesPayments: false,
    provider: undefined,
    successUrl: () => undefined,
    cancelUrl: () => undefined,
  };
  const secrets = options.payments.webhookSecrets;
  return {
    registerRoutes: routesOf({ ...options, ...settings, secrets }),
    run: async () => {},
  };
}

type ProviderOptions = Omit<CheckoutOptions, 'metrics'> & { readonly metrics: PaymentMetrics };

function routesOf(
  parts: ProviderOptions & CheckoutSettings & { readonly secrets: readonly string[] },
): RegisterRoutes {
  const { provider } = parts.payments;
  return allCheckoutRoutes(new Checkouts(parts), new OrderSettlement({ ...parts, provider }));
}
