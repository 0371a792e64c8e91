import { Counter, Gauge, type Metrics } from '../../platform/metrics/index.js';
import type { SendOutcome } from './sender.js';

export interface DeliveryBacklog {
  readonly messages: number;
  readonly oldestMessageAgeMs: number;
  readonly deliveries: number;
  readonly oldestDueAgeMs: number;
}

/**
 * Work of the dispatchers of this process, and the deliveries in the database that wait for dispatchers of all
 * processes.
 */
export class DispatcherMetrics {
  readonly #attempts: Counter<'outcome'>;
  readonly #disabled: Counter<'reason'>;
  readonly #failures: Counter<'work'>;
  readonly #messages: Gauge;
  readonly #oldestMessageAge: Gauge;
  readonly #deliveries: Gauge;
  readonly #oldestDueAge: Gauge;

  constructor(metrics: Metrics) {
    const registers = [metrics];
    this.#attempts = new Counter({
      name: 'tollgate_webhook_attempts_total',
      help: 'Attempts to deliver a webhook message, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    this.#disabled = new Counter({
      name: 'tollgate_webhook_endpoints_disabled_total',
      help: 'Webhook endpoints that were disabled, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#failures = new Counter({
      name: 'tollgate_webhook_failures_total',
      help: 'Failures of webhook delivery inside the service, in turns of the dispatcher or by lost attempts; they are repeated.',
      labelNames: ['work'],
      registers,
    });
    const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
    this.#messages = gauge(
      'tollgate_webhook_messages_waiting',
      'Messages whose deliveries are not yet written.',
    );
    this.#oldestMessageAge = gauge(
      'tollgate_webhook_oldest_message_seconds',
      'For how long the oldest of them has waited.',
    );
    this.#deliveries = gauge('tollgate_webhook_deliveries_pending', 'Deliveries that are not yet done.');
    this.#oldestDueAge = gauge(
      'tollgate_webhook_oldest_due_seconds',
      'For how long the oldest delivery has been due.',
    );
  }

  attempted(outcome: SendOutcome): void {
    this.#attempts.inc({ outcome: outcomeLabel(outcome) });
  }

  endpointDisabled(reason: string): void {
    this.#disabled.inc({ reason });
  }

  failed(work: 'turn' | 'attempt'): void {
    this.#failures.inc({ work });
  }

  backlog({ messages, oldestMessageAgeMs, deliveries, oldestDueAgeMs }: DeliveryBacklog): void {
    this.#messages.set(messages);
    this.#oldestMessageAge.set(oldestMessageAgeMs / 1_000);
    this.#deliveries.set(deliveries);
    this.#oldestDueAge.set(oldestDueAgeMs / 1_000);
  }
}

function outcomeLabel(outcome: SendOutcome): string {
  if ('error' in outcome) {
    return outcome.error === 'timeout' || outcome.error === 'address_refused' ? outcome.error : 'unreachable';
  }
  return outcome.status >= 200 && outcome.status < 300 ? 'delivered' : 'rejected';
}
