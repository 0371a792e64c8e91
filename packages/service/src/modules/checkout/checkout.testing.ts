import { randomBytes } from 'node:crypto';
import { createMetrics, type Metrics } from '../../platform/metrics/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { type Answer, createTestApi, type TestApi } from '../../testing/api.js';
import { createWebhooks, registerWebhookRoutes } from '../webhooks/index.js';
import { Checkouts } from './checkouts.js';
import { PaymentMetrics } from './payment-metrics.js';
import {
  type PaymentProvider,
  PaymentProviderError,
  type ProviderSession,
  type SessionRequest,
} from './provider.js';
import { registerCheckoutRoutes } from './routes.js';
import { OrderSettlement } from './settlement.js';
import { signatureHeader } from './signature.js';
import { PAYMENT_WEBHOOK_URL, registerPaymentWebhookRoutes } from './webhook-routes.js';

export const SECRET = 'whsec_test_secret';
export const OLD_SECRET = 'whsec_old_secret';
const URLS = { success: 'https://shop.example/ok', cancel: 'https://shop.example/no' };

/** A provider in memory that fails on request. */
export class FakeProvider implements PaymentProvider {
  readonly name = 'sandbox';
  requests: SessionRequest[] = [];
  /** One session per idempotency key, as Stripe keeps them. */
  sessions = new Map<string, ProviderSession>();
  /** Seconds by which sessions close later than requested. */
  laterS = 0;
  /** Called before and after a session is created. */
  before: () => Promise<void> = async () => {};
  after: () => Promise<void> = async () => {};

  async createSession(request: SessionRequest): Promise<ProviderSession> {
    this.requests.push(request);
    await this.before();
    const id = `cs_test_${randomBytes(8).toString('hex')}`;
    const made = { id, url: `https://pay.example/${id}`, expiresAt: request.expiresAt + this.laterS };
    const session = this.sessions.get(request.idempotencyKey) ?? made;
    this.sessions.set(request.idempotencyKey, session);
    await this.after();
    return session;
  }

  /** Fails the next session, with an error of the provider or as a crash would. */
  failOnce(when: 'before' | 'after', error: Error = new PaymentProviderError('no luck')): void {
    this[when] = async () => {
      this[when] = async () => {};
      throw error;
    };
  }
}

export interface Purchase {
  readonly key: string;
  readonly planId?: string;
  readonly tenantId?: string;
  readonly apiKey?: string;
}

/** An application with checkouts, a provider in memory, and its webhook. */
export interface TestCheckout extends Omit<TestApi, 'tenantId'> {
  /** The tenant that buys. */
  tenantId: string;
  /** Resets everything for the next test: another tenant, no failures, no recorded calls. */
  anew(): Promise<void>;
  readonly metrics: Metrics;
  /** The warnings that were logged. */
  readonly warnings: object[];
  readonly provider: FakeProvider;
  /** The configured URLs; read for each new order. */
  readonly urls: { success: string | undefined; cancel: string | undefined };
  /** How many quota initializations will fail from now on, and the tenants for which they were tried. */
  readonly quota: { failures: number; tried: string[] };
  buy(purchase: Purchase): Promise<Answer>;
  /** Returns the documented event for the payment of an order, with some fields changed. */
  paid(orderId: string, changes?: Readonly<Record<string, unknown>>): Promise<PaymentEvent>;
  /** Delivers an event. It is signed now with the present secret unless a header says otherwise. */
  deliver(event: object | string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Returns the orders of a tenant, newest first; by default of the tenant that buys. */
  orders(tenantId?: string): ReturnType<Answer['json']>;
  rows(sql: string): Promise<Record<string, unknown>[]>;
}

/** Returns 201, or the status and code of a refusal. */
export function verdict({ status, json }: Answer): unknown {
  return status === 201 ? status : `${status} ${json().code}`;
}

export function checkoutUrl(tenantId: string): string {
  return `/admin/v1/tenants/${tenantId}/payments/provider/checkout-sessions`;
}

export async function createTestCheckout({ refundEndsPlan = false } = {}): Promise<TestCheckout> {
  const provider = new FakeProvider();
  const urls: TestCheckout['urls'] = {
    success: 'https://shop.example/ok',
    cancel: 'https://shop.example/no',
  };
  const quota = { failures: 0, tried: [] as string[] };
  const applyGrants = async (tenantId: string) => {
    quota.tried.push(tenantId);
    if (quota.failures-- > 0) throw new Error('the counter store is away');
  };
  const warnings: object[] = [];
  const log = { warn: (details: object) => void warnings.push(details) };
  const metrics = createMetrics();
  const parts = { log, metrics: new PaymentMetrics(metrics) };
  const api = await createTestApi((app, stores) => {
    const settings = {
      takesPayments: true,
      provider,
      successUrl: () => urls.success,
      cancelUrl: () => urls.cancel,
    };
    const eventsOfRules = async () => [];
    registerWebhookRoutes(app, createWebhooks({ ...stores, allowPrivate: true, eventsOfRules }));
    registerCheckoutRoutes(app, new Checkouts({ ...stores, ...parts, ...settings }));
    const secrets = [SECRET, OLD_SECRET];
    const reports = { provider: 'sandbox', secrets, applyGrants, refundEndsPlan } as const;
    const settlement = new OrderSettlement({ ...stores, ...parts, ...reports });
    registerPaymentWebhookRoutes(app, settlement);
  });
  const { app, clock, postgres, call } = api;
  const checkout: TestCheckout = {
    ...api,
    metrics,
    warnings,
    provider,
    urls,
    quota,
    anew: async () => {
      checkout.tenantId = await api.makeTenant();
      Object.assign(provider, new FakeProvider());
      Object.assign(urls, URLS);
      Object.assign(quota, { failures: 0, tried: [] });
    },
    buy: ({ key, planId = 'launch', tenantId = checkout.tenantId, apiKey }) =>
      call('POST', checkoutUrl(tenantId), { plan_id: planId }, apiKey, { 'idempotency-key': key }),
    paid: (orderId, changes) => eventThatPays(postgres, orderId, changes),
    deliver: async (event, headers) => {
      const text = typeof event === 'string' ? event : JSON.stringify(event);
      const nowS = Math.floor(clock.nowMs() / 1000);
      const signed = { 'payment-signature': signatureHeader(Buffer.from(text), SECRET, nowS) };
      const answer = await app.inject({
        method: 'POST',
        url: PAYMENT_WEBHOOK_URL,
        headers: { 'content-type': 'application/json; charset=utf-8', ...(headers ?? signed) },
        payload: text,
      });
      const { statusCode, body } = answer;
      return { status: statusCode, text: body, headers: answer.headers, json: () => JSON.parse(body) };
    },
    orders: async (tenantId = checkout.tenantId) =>
      (await call('GET', `/admin/v1/tenants/${tenantId}/payments/orders`)).json().orders,
    rows: async (sql) => (await postgres.pool.query(sql)).rows,
  };
  return checkout;
}

/** Returns the documented event for the payment of an order, with some fields changed. */
async function eventThatPays(
  { pool }: Postgres,
  orderId: string,
  changes?: Readonly<Record<string, unknown>>,
): Promise<PaymentEvent> {
  const { rows } = await pool.query('select * from payment_orders where id = $1', [orderId]);
  const [order] = rows;
  const metadata = { tenant_id: order.tenant_id, plan_id: order.plan_id, order_id: order.id };
  const amount = order.amount_minor;
  const currency = order.currency.toLowerCase();
  return paymentEvent({ amount, amount_received: amount, currency, metadata, ...changes });
}

export type PaymentEvent = ReturnType<typeof paymentEvent>;

/**
 * `payment_intent.succeeded` with every field that Stripe documents for an event
 * (https://docs.stripe.com/api/events/object) and a payment intent
 * (https://docs.stripe.com/api/payment_intents/object), API version 2026-04-22.dahlia.
 */
export function paymentEvent(changes: Readonly<Record<string, unknown>> = {}) {
  const id = `pi_3${randomBytes(11).toString('hex')}`;
  return {
    id: `evt_3${randomBytes(11).toString('hex')}`,
    object: 'event',
    api_version: '2026-04-22.dahlia',
    created: 1_790_000_000,
    data: { object: { ...PAYMENT_INTENT, id, client_secret: `${id}_secret_x`, ...changes } },
    livemode: false,
    pending_webhooks: 2,
    request: { id: 'req_8cBoEOJcqOQxlS', idempotency_key: 'b1a2c3d4' },
    type: 'payment_intent.succeeded',
  };
}

const PAYMENT_INTENT = {
  object: 'payment_intent',
  amount_capturable: 0,
  amount_details: { tip: {} },
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: null,
  canceled_at: null,
  cancellation_reason: null,
  capture_method: 'automatic_async',
  confirmation_method: 'automatic',
  created: 1_790_000_000,
  customer: null,
  description: null,
  last_payment_error: null,
  latest_charge: 'ch_3QwErTyUiOpAsDfG1h2J3k4L',
  livemode: false,
  next_action: null,
  on_behalf_of: null,
  payment_method: 'pm_1QwErTyUiOpAsDfGzXcVbNm1',
  payment_method_options: {
    card: { installments: null, network: null, request_three_d_secure: 'automatic' },
  },
  payment_method_types: ['card', 'link'],
  processing: null,
  receipt_email: 'buyer@example.com',
  review: null,
  setup_future_usage: null,
  shipping: null,
  source: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  status: 'succeeded',
  transfer_data: null,
  transfer_group: null,
};
