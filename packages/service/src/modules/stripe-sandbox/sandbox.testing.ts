import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createMetrics, type Metrics } from '../../platform/metrics/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import { type Checkout, createCheckout, type PaymentSettings } from '../checkout/index.js';
import { createSandbox } from './index.js';

/**
 * An application that listens, with checkout as the service runs it; nothing is replaced by a fake apart from the
 * quota.
 */
export interface TestShop extends TestApi {
  readonly url: string;
  /** Warnings that were logged. */
  readonly warnings: string[];
  readonly metrics: Metrics;
  readonly checkout: Checkout;
  /** The tenants for which a quota was requested; the first `failures` requests fail. */
  readonly quota: { failures: number; readonly tried: string[] };
  /** Starts delivering events; the returned function stops it. */
  startDeliveries(): () => Promise<void>;
}

export async function createTestShop(payments: Partial<PaymentSettings> = {}): Promise<TestShop> {
  let url = '';
  let checkout: Checkout | undefined;
  const warnings: string[] = [];
  const quota = { failures: 0, tried: [] as string[] };
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
  const metrics = createMetrics();
  const api = await createTestApi((app, stores) => {
    checkout = createCheckout({
      createSandbox,
      ...stores,
      log,
      metrics,
      payments: {
        provider: 'sandbox',
        stripeApiKey: undefined,
        webhookSecrets: [],
        successUrl: undefined,
        cancelUrl: undefined,
        ...payments,
      },
      refundEndsPlan: false,
      selfUrl: () => url,
      publicUrl: () => url,
      applyGrants: async (tenantId) => {
        quota.tried.push(tenantId);
        if (quota.failures-- > 0) throw new Error('the counter store is away');
      },
    });
    checkout.registerRoutes(app);
  });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  const running = checkout as Checkout;
  return {
    ...api,
    url,
    warnings,
    metrics,
    quota,
    checkout: running,
    startDeliveries: () => {
      const abort = new AbortController();
      const ended = running.run(abort.signal);
      return () => {
        abort.abort();
        return ended;
      };
    },
  };
}
