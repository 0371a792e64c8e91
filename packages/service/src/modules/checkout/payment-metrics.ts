import { PAYMENT_ORDER_STATUSES, type PaymentOrderStatus } from '@tollgate/contract';
import { Counter, Gauge, type Metrics } from '../../platform/metrics/index.js';

/** What became of a delivery of the webhook: `received`, `ignored`, the code of the answer, or `failed`. */
export type DeliveryOutcome = string;

/** What this process does for payments, and how all orders stand. */
export class PaymentMetrics {
  readonly settled: Counter;
  readonly #deliveries: Counter<'outcome'>;
  readonly #sessions: Counter<'outcome'>;
  readonly #orders: Gauge<'status'>;

  constructor(metrics: Metrics) {
    const registers = [metrics];
    this.settled = new Counter({
      name: 'tollgate_payments_settled_total',
      help: 'Payments whose order was settled and whose plan was granted, each once.',
      registers,
    });
    this.#deliveries = new Counter({
      name: 'tollgate_payment_webhooks_total',
      help: 'Deliveries of the payment webhook, by outcome: received, ignored, or why it was refused.',
      labelNames: ['outcome'],
      registers,
    });
    this.#sessions = new Counter({
      name: 'tollgate_payment_sessions_total',
      help: 'Pages that the payment provider was asked for, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    this.#orders = new Gauge({
      name: 'tollgate_payment_orders',
      help: 'Orders of plans by status, when last looked at.',
      labelNames: ['status'],
      registers,
    });
  }

  delivered(outcome: DeliveryOutcome): void {
    this.#deliveries.inc({ outcome });
  }

  asked(outcome: 'opened' | 'failed'): void {
    this.#sessions.inc({ outcome });
  }

  orders(counts: ReadonlyMap<PaymentOrderStatus, number>): void {
    for (const status of PAYMENT_ORDER_STATUSES) {
      const count = counts.get(status);
      this.#orders.set({ status }, count === undefined ? 0 : count);
    }
  }
}
