import { createSweepJob } from '../../platform/sweep-job.js';
import {
  createStripeProvider,
  type PaymentSandbox,
  randomSecret,
  type SandboxOptions,
} from '../checkout/index.js';
import { registerSandboxApiRoutes } from './api-routes.js';
import { SandboxDeliveries } from './deliveries.js';
import { sandboxHttpClient } from './http-client.js';
import { pagePath, registerSandboxPageRoutes, returnPath } from './page-routes.js';
import { SandboxSessions } from './sessions.js';

const FORGET_POLL_MS = 3_600_000;

/** Creates a payment provider that takes no money and speaks Stripe's protocol, for development and tests. */
export function createSandbox(options: SandboxOptions): PaymentSandbox {
  const { clock, log, selfUrl, publicUrl, webhookPath } = options;
  // Only this process calls its sandbox, so nobody else needs to know the key.
  const apiKey = `sk_test_${randomSecret()}`;
  const deliveries = new SandboxDeliveries({ ...options, webhookUrl: () => selfUrl() + webhookPath });
  const sessions = new SandboxSessions({ ...options, onEvent: () => deliveries.notify() });
  const forgetting = createSweepJob({
    sweep: (signal) => sessions.forgetEnded(signal),
    pollMs: FORGET_POLL_MS,
    log,
    failureMessage: 'could not delete ended sandbox sessions',
  });
  return {
    provider: createStripeProvider({ name: 'sandbox', apiKey, httpClient: sandboxHttpClient(selfUrl) }),
    successUrl: () => publicUrl() + returnPath('success'),
    cancelUrl: () => publicUrl() + returnPath('cancel'),
    registerRoutes(app) {
      const pageUrl = (sessionId: string) => publicUrl() + pagePath(sessionId);
      registerSandboxApiRoutes(app, { sessions, clock, apiKey, pageUrl });
      registerSandboxPageRoutes(app, sessions, clock);
    },
    async run(signal) {
      await Promise.all([deliveries.run(signal), forgetting.run(signal)]);
    },
  };
}
