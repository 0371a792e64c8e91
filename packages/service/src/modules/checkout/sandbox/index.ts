import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { repeat } from '../../../platform/wakeup.js';
import type { RegisterRoutes } from '../all-routes.js';
import type { PaymentProvider } from '../provider.js';
import { createStripeProvider } from '../stripe-provider.js';
import { registerSandboxApiRoutes } from './api-routes.js';
import { SandboxDeliveries } from './deliveries.js';
import { sandboxHttpClient } from './http-client.js';
import { pagePath, registerSandboxPageRoutes, returnPath } from './page-routes.js';
import { SandboxSessions } from './sessions.js';

const SECRET_BYTES = 32;
const FORGET_POLL_MS = 3_600_000;

export interface SandboxOptions {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  /** Where this process answers, for itself. */
  readonly selfUrl: () => string;
  /** Where browsers reach it. */
  readonly publicUrl: () => string;
  /** Path that events are posted to. */
  readonly webhookPath: string;
  /** What signs them. */
  readonly webhookSecret: string;
}

/** A payment provider that takes no money, for development and tests: reached, paid at and heard of as Stripe is. */
export interface Sandbox {
  readonly provider: PaymentProvider;
  readonly successUrl: () => string;
  readonly cancelUrl: () => string;
  readonly registerRoutes: RegisterRoutes;
  /** Delivers events, and forgets what ended long ago, until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const { clock, log, selfUrl, publicUrl, webhookPath } = options;
  // Only this process asks its sandbox for anything, so nobody else needs to know the key.
  const apiKey = `sk_test_${randomSecret()}`;
  const deliveries = new SandboxDeliveries({ ...options, webhookUrl: () => selfUrl() + webhookPath });
  const sessions = new SandboxSessions({ ...options, onEvent: () => deliveries.notify() });
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
      const forgetting = repeat(() => sessions.forgetEnded(signal), signal, {
        pollMs: FORGET_POLL_MS,
        onFailure: (err) => log.warn({ err }, 'ended sandbox sessions could not be forgotten'),
      });
      await Promise.all([deliveries.run(signal), forgetting]);
    },
  };
}

/** A key or secret that nobody guesses. */
export function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
