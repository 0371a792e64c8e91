import {
  type CatalogPlan,
  type CheckoutSession,
  type PaymentOrderStatus,
  UNSOLD_PLAN_ID,
} from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { Page } from '../../kernel/page.js';
import type { Principal } from '../../kernel/principal.js';
import { OneAtATime } from '../../platform/one-at-a-time.js';
import { type Postgres, TenantDb, TenantTx, type Tx, transaction } from '../../platform/postgres/index.js';
import { newestPlan } from '../catalog/index.js';
import { audit, type TenancyService } from '../tenancy/index.js';
import { isOver, ORDER_LIFETIME_S, type Order } from './order.js';
import * as store from './order-store.js';
import type { PaymentMetrics } from './payment-metrics.js';
import { type PaymentProvider, PaymentProviderError, type ProviderSession } from './provider.js';

/** The configuration of checkouts. */
export interface CheckoutSettings {
  /** False if plans cannot be bought, because no provider is configured. */
  readonly takesPayments: boolean;
  /** Undefined without a provider, or when the provider is not fully configured. */
  readonly provider: PaymentProvider | undefined;
  /** The pages to which buyers return after paying, and after cancelling; undefined when not configured. */
  readonly successUrl: () => string | undefined;
  readonly cancelUrl: () => string | undefined;
}

export interface CheckoutDeps extends CheckoutSettings {
  readonly postgres: Postgres;
  readonly tenants: Pick<TenancyService, 'getTenant'>;
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  readonly metrics: PaymentMetrics;
}

/** A request for a checkout: its tenant, plan and idempotency key. */
export interface CheckoutRequest {
  readonly tenantId: string;
  readonly key: string;
  readonly planId: string;
  readonly principal: Principal;
  readonly requestId: string;
}

type Outcome = { readonly order: Order } | { readonly refusal: DomainError };

/** Purchases of plans: orders, and the provider's pages on which they are paid. */
export class Checkouts {
  readonly #deps: CheckoutDeps;
  /** Requests to the provider that this process has open, by order; further callers wait for the same result. */
  readonly #asking = new Map<string, Promise<ProviderSession>>();

  /** Runs requests of one tenant one at a time; otherwise each would wait for the others with a connection. */
  readonly #resolving = new OneAtATime();

  constructor(deps: CheckoutDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the payment page of an order: a new one, or the existing one. The order is committed before the provider is
   * called, and the call is made outside any transaction; after a failure in between, the same request continues where
   * it stopped.
   *
   * @throws DomainError `not_found`, `payments_not_configured`, `invalid_request`, `idempotency_key_conflict`,
   * `payment_checkout_expired`, `checkout_in_progress`, `checkout_not_configured`, `payment_provider_failed`,
   * `server_busy`
   */
  async create(request: CheckoutRequest): Promise<CheckoutSession> {
    const { postgres, tenants } = this.#deps;
    const { tenantId } = request;
    await tenants.getTenant(tenantId);
    if (!this.#deps.takesPayments) throw new DomainError('payments_not_configured');
    // A refusal is returned, not thrown, so that orders that were found to be expired are committed as such.
    const outcome = await this.#resolving.run(tenantId, () =>
      transaction(postgres, (tx) => this.#resolve(tx, request)),
    );
    if ('refusal' in outcome) throw outcome.refusal;
    return sessionOf(outcome.order) ?? this.#open(outcome.order);
  }

  /** @throws DomainError `not_found` */
  async read(tenantId: string, orderId: string): Promise<Order> {
    const order = await store.findOrder(new TenantDb(this.#deps.postgres.db, tenantId), orderId);
    if (order === undefined) throw new DomainError('not_found');
    return order;
  }

  /** @throws DomainError `not_found` when the tenant does not exist */
  async list(tenantId: string, status: PaymentOrderStatus | undefined, page: Page) {
    const { postgres, tenants } = this.#deps;
    await tenants.getTenant(tenantId);
    return store.listOrders(new TenantDb(postgres.db, tenantId), status, page);
  }

  /** Returns the order of the request, created if needed, or the reason why there is none. */
  async #resolve(tx: Tx, request: CheckoutRequest): Promise<Outcome> {
    const { tenantId, key, planId } = request;
    const nowS = unixSeconds(this.#deps.clock);
    const own = new TenantTx(tx, tenantId);
    await store.lockOrders(own);
    const known = await store.findOrderOfKey(own, key);
    if (known !== undefined) {
      if (known.plan.id !== planId) return { refusal: new DomainError('idempotency_key_conflict') };
      return this.#goOn(own, known, nowS);
    }
    const plan = await purchasablePlan(tx, planId);
    const active = await this.#activeOrder(own, nowS);
    if (active !== undefined && active.plan.id !== planId) return { refusal: inProgress(active) };
    const order = active ?? (await this.#insert(tx, request, plan, nowS));
    await store.insertOrderKey(own, order.id, key, nowS);
    return { order };
  }

  /** Continues the order of a key that was used before. */
  async #goOn(tx: TenantTx, order: Order, nowS: number): Promise<Outcome> {
    const isOver = this.#isOver(order, nowS);
    if (order.status === 'pending' && isOver) await store.expireOrder(tx, order.id);
    // The page of a paid order is shown for ever. A page that was never stored cannot be requested any more.
    const isSettled = order.status === 'paid' && order.sessionId !== null;
    if (order.status === 'expired' || (isOver && !isSettled)) {
      return { refusal: new DomainError('payment_checkout_expired') };
    }
    return { order };
  }

  /** Returns the tenant's pending order, unless it has expired. */
  async #activeOrder(tx: TenantTx, nowS: number): Promise<Order | undefined> {
    const pending = await store.findPendingOrder(tx);
    if (pending === undefined || !this.#isOver(pending, nowS)) return pending;
    await store.expireOrder(tx, pending.id);
    return undefined;
  }

  /**
   * Whether the order has expired. Orders of a provider that is not configured any more count as expired, because
   * nobody would be notified of their payment.
   */
  #isOver(order: Order, nowS: number): boolean {
    const { provider } = this.#deps;
    return isOver(order, nowS) || (provider !== undefined && provider.name !== order.provider);
  }

  async #insert(tx: Tx, request: CheckoutRequest, plan: CatalogPlan, nowS: number): Promise<Order> {
    const { clock } = this.#deps;
    const { provider, successUrl, cancelUrl } = this.#configured();
    const order: Order = {
      id: newId('ord', clock),
      tenantId: request.tenantId,
      status: 'pending',
      plan,
      productName: `Tollgate ${plan.display_name}, one month`,
      successUrl,
      cancelUrl,
      expiresAt: nowS + ORDER_LIFETIME_S,
      provider: provider.name,
      sessionId: null,
      sessionUrl: null,
      sessionExpiresAt: null,
      paymentId: null,
      paidAt: null,
      createdAt: nowS,
      reversals: [],
    };
    await store.insertOrder(new TenantTx(tx, order.tenantId), order);
    await audit(tx, {
      tenantId: order.tenantId,
      principal: request.principal,
      action: 'payment_order.create',
      resourceType: 'payment_order',
      resourceId: order.id,
      change: { plan_id: plan.id, plan_revision: plan.revision },
      requestId: request.requestId,
      atMs: clock.nowMs(),
    });
    return order;
  }

  #configured() {
    const { provider } = this.#deps;
    const successUrl = this.#deps.successUrl();
    const cancelUrl = this.#deps.cancelUrl();
    if (provider === undefined || successUrl === undefined || cancelUrl === undefined) {
      throw new DomainError('checkout_not_configured');
    }
    return { provider, successUrl, cancelUrl };
  }

  /** Requests the order's page from the provider and stores it. */
  async #open(order: Order): Promise<CheckoutSession> {
    const db = new TenantDb(this.#deps.postgres.db, order.tenantId);
    let stored: Order | undefined;
    try {
      const session = await this.#askOnce(order);
      stored = await store.attachSession(db, order.id, session);
    } catch (error) {
      if (!(error instanceof PaymentProviderError)) throw error;
      this.#deps.log.warn(
        { err: error, orderId: order.id },
        'the payment provider did not create a checkout page',
      );
      // Another process may have got a page for the same order.
      stored = await store.findOrder(db, order.id);
      if (stored?.sessionId == null) throw new DomainError('payment_provider_failed');
    }
    const session = stored === undefined ? undefined : sessionOf(stored);
    // The order expired while the provider was called.
    if (session === undefined || stored?.status === 'expired')
      throw new DomainError('payment_checkout_expired');
    return session;
  }

  async #askOnce(order: Order): Promise<ProviderSession> {
    const { provider } = this.#deps;
    if (provider?.name !== order.provider) throw new DomainError('checkout_not_configured');
    const running = this.#asking.get(order.id);
    if (running !== undefined) return running;
    const asking = provider.createSession(sessionRequest(order));
    this.#asking.set(order.id, asking);
    try {
      const session = await asking;
      this.#deps.metrics.asked('opened');
      return session;
    } catch (error) {
      this.#deps.metrics.asked('failed');
      throw error;
    } finally {
      this.#asking.delete(order.id);
    }
  }
}

/**
 * Returns the newest revision of a plan that can be bought.
 *
 * @throws DomainError `invalid_request`
 */
async function purchasablePlan(tx: Tx, planId: string): Promise<CatalogPlan> {
  const plan = await newestPlan(tx, planId);
  if (plan === undefined) throw invalidRequest('plan_id', 'expected a subscription plan of the catalog');
  if (plan.amount_minor === 0 || planId === UNSOLD_PLAN_ID)
    throw invalidRequest(
      'plan_id',
      'expected a subscription plan that can be bought; this one is free or not sold by checkout',
    );
  return plan;
}

function inProgress({ id, plan }: Order): DomainError {
  return new DomainError('checkout_in_progress', {
    message: `A checkout of the subscription plan ${plan.id} is in progress: ${id}. Finish it, or wait until it expires.`,
    details: [{ path: 'plan_id', message: `${id} is a checkout of ${plan.id}`, order_id: id }],
  });
}

function sessionRequest(order: Order) {
  return {
    idempotencyKey: `tollgate-${order.id}`,
    orderId: order.id,
    tenantId: order.tenantId,
    planId: order.plan.id,
    productName: order.productName,
    amountMinor: order.plan.amount_minor,
    currency: order.plan.currency,
    successUrl: order.successUrl,
    cancelUrl: order.cancelUrl,
    expiresAt: order.expiresAt,
  };
}

function sessionOf({ id, sessionId, sessionUrl }: Order): CheckoutSession | undefined {
  if (sessionId === null || sessionUrl === null) return undefined;
  return { order_id: id, session_id: sessionId, session_url: sessionUrl };
}
