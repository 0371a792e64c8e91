import { PAYMENT_ORDER_STATUSES, type PaymentOrderStatus } from '@tollgate/contract';
import { countOrNone } from '../../kernel/present.js';
import { Counter, Gauge, type Metrics } from '../../platform/metrics/index.js';

/** The outcome of a webhook delivery: `received`, `ignored`, the error code of the response, or `failed`. */
export type DeliveryOutcome = string;

/** Metrics of the payments that this process handles, and of all orders. */
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
      help: 'Payment pages that were requested from the payment provider, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    this.#orders = new Gauge({
      name: 'tollgate_payment_orders',
      help: 'Orders of plans by status, at the last measurement.',
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
      this.#orders.set({ status }, countOrNone(counts.get(status)));
    }
  }
}
