import type { Clock } from '../../kernel/clock.js';
import type { Postgres } from '../../platform/postgres/index.js';
import type { RegisterRoutes } from './all-routes.js';
import type { PaymentProvider } from './provider.js';

export interface SandboxOptions {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  /** Returns the URL at which this process can call itself. */
  readonly selfUrl: () => string;
  /** Returns the URL at which browsers reach the service. */
  readonly publicUrl: () => string;
  /** Path that events are posted to. */
  readonly webhookPath: string;
  /** The secret that signs events. */
  readonly webhookSecret: string;
}

/** A payment provider inside the service that takes no money; composition roots pass it in. */
export interface PaymentSandbox {
  readonly provider: PaymentProvider;
  readonly successUrl: () => string;
  readonly cancelUrl: () => string;
  readonly registerRoutes: RegisterRoutes;
  /** Delivers events and deletes old data until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}
