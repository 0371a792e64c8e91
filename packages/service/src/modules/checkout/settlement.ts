import type { PaymentProviderName } from '@tollgate/contract';
import { unixSeconds } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { timeOfId } from '../../kernel/id.js';
import { parseJson } from '../../kernel/json/json.js';
import {
  isUniqueViolation,
  type Postgres,
  TenantTx,
  type Tx,
  transaction,
} from '../../platform/postgres/index.js';
import { grantPlan } from '../catalog/index.js';
import { audit } from '../tenancy/index.js';
import { ABANDONED_AFTER_S, grantSourceOf, type Order } from './order.js';
import { findOrder, findTenantOfOrder, lockOrders, settleOrder } from './order-store.js';
import { type Payment, type ReversalEvent, readEvent } from './payment-event.js';
import type { PaymentMetrics } from './payment-metrics.js';
import { lockPayment } from './reversal-store.js';
import { type ReversalDeps, Reversals } from './reversals.js';
import { isSigned, type SignedBody } from './signature.js';

const MS_PER_S = 1_000;

export interface SettlementDeps extends ReversalDeps {
  readonly postgres: Postgres;
  readonly metrics: PaymentMetrics;
  /** The provider whose payments are accepted; undefined when none is configured. */
  readonly provider: PaymentProviderName | undefined;
  /** Any of them may have signed. */
  readonly secrets: readonly string[];
  /**
   * Called after a change of the tenant's grants is committed, and again with every further delivery that may have
   * changed them.
   */
  readonly applyGrants: (tenantId: string) => Promise<void>;
}

/** Turns each payment into one grant, and records refunds and disputes, in whatever sequence events arrive. */
export class OrderSettlement {
  readonly #deps: SettlementDeps;
  readonly #reversals: Reversals;

  constructor(deps: SettlementDeps) {
    this.#deps = deps;
    this.#reversals = new Reversals(deps);
  }

  /**
   * Handles one delivery of the provider's webhook. Returns only when all of its effects are done: after an error the
   * provider delivers the event again.
   *
   * @throws DomainError `invalid_signature`, `invalid_json`, `payment_mismatch`, `payment_order_not_ready`,
   * `quota_initialization_failed`
   */
  async receive(delivery: SignedBody, requestId: string): Promise<void> {
    const { metrics } = this.#deps;
    try {
      metrics.delivered(await this.#receive(delivery, requestId));
    } catch (error) {
      metrics.delivered(error instanceof DomainError ? error.code : 'failed');
      throw error;
    }
  }

  async #receive(delivery: SignedBody, requestId: string): Promise<'received' | 'ignored'> {
    if (!isSigned(delivery, this.#deps.secrets, unixSeconds(this.#deps.clock))) {
      throw new DomainError('invalid_signature');
    }
    const payment = readEvent(eventOf(delivery.body));
    if (payment === undefined) return 'ignored';
    if (payment === 'malformed') throw this.#mismatch(requestId, 'it names no order, or has not succeeded');
    if (payment.kind !== 'payment') return this.#reverse(payment, requestId);
    if (await this.#settle(payment, requestId)) this.#deps.metrics.settled.inc();
    await this.#applyGrants(payment.tenantId);
    return 'received';
  }

  async #applyGrants(tenantId: string): Promise<void> {
    try {
      await this.#deps.applyGrants(tenantId);
    } catch (cause) {
      throw new DomainError('quota_initialization_failed', { cause });
    }
  }

  /**
   * Records a refund or a dispute. The response is sent after the commit, and after data that the end of a plan hides
   * is hidden.
   */
  async #reverse(event: ReversalEvent, requestId: string): Promise<'received' | 'ignored'> {
    const { postgres, provider, refundEndsPlan } = this.#deps;
    if (provider === undefined) return 'ignored';
    const outcome = await transaction(postgres, (tx) => this.#reversals.take(tx, provider, event, requestId));
    if (outcome === 'ignored') return 'ignored';
    if ('difference' in outcome) {
      const about = { id: event.paymentId, orderId: event.named?.orderId };
      throw this.#mismatch(requestId, outcome.difference, about);
    }
    if (refundEndsPlan) await this.#applyGrants(outcome.tenantId);
    return 'received';
  }

  /** Returns whether the payment was not settled before. */
  async #settle(payment: Payment, requestId: string): Promise<boolean> {
    try {
      return await transaction(this.#deps.postgres, (tx) => this.#settleWithin(tx, payment, requestId));
    } catch (error) {
      if (!isUniqueViolation(error, 'payment_orders_payment')) throw error;
      throw this.#mismatch(requestId, 'it has paid another order', payment);
    }
  }

  /** Changes order, plan and grant together or not at all. */
  async #settleWithin(tx: Tx, payment: Payment, requestId: string): Promise<boolean> {
    const { clock } = this.#deps;
    const tenantId = await findTenantOfOrder(tx, payment.orderId);
    if (tenantId === undefined) throw this.#absent(payment, requestId);
    if (tenantId !== payment.tenantId)
      throw this.#mismatch(requestId, 'its order is of another tenant', payment);
    if (this.#deps.provider !== undefined) await lockPayment(tx, this.#deps.provider, payment.id);
    const own = new TenantTx(tx, tenantId);
    await lockOrders(own);
    const order = await findOrder(own, payment.orderId);
    if (order === undefined) throw new Error('the order was not found any more');
    const difference = this.#difference(payment, order);
    if (difference !== undefined) throw this.#mismatch(requestId, difference, payment);
    const atS = unixSeconds(clock);
    const source = grantSourceOf(order, payment.id);
    const isNew = order.status !== 'paid';
    if (isNew) {
      await settleOrder(own, order.id, payment.id, atS);
      await audit(tx, {
        tenantId: order.tenantId,
        principal: { kind: 'service' },
        action: 'payment_order.pay',
        resourceType: 'payment_order',
        resourceId: order.id,
        change: { payment_id: payment.id, plan_id: order.plan.id, plan_revision: order.plan.revision },
        requestId,
        atMs: clock.nowMs(),
      });
    }
    // A payment that was reversed before it was reported buys nothing, and replaces no plan.
    const isVoid = isNew && (await this.#reversals.endsPlan(tx, order, payment.id));
    // For a payment that was settled before, this returns the existing grant.
    await grantPlan(tx, { tenantId: order.tenantId, plan: order.plan, source, atS, isVoid });
    if (isNew) await this.#reversals.announceEarlier(tx, order, payment.id, requestId);
    return isNew;
  }

  /** Returns the difference between the payment and its order, if there is one. */
  #difference(payment: Payment, order: Order): string | undefined {
    if (order.provider !== this.#deps.provider) return 'its order is with another provider';
    if (payment.planId !== order.plan.id) return 'it is for another plan';
    if (payment.amountMinor !== order.plan.amount_minor) return 'it is of another amount';
    if (payment.currency !== order.plan.currency.toLowerCase()) return 'it is in another currency';
    if (order.paymentId !== null && order.paymentId !== payment.id)
      return 'its order was paid by another payment';
    return undefined;
  }

  /**
   * Returns the error for a payment whose order does not exist. An order is committed before its page exists, so an id
   * that is very new may still appear.
   */
  #absent(payment: Payment, requestId: string): DomainError {
    const madeAtMs = timeOfId('ord', payment.orderId);
    const nowMs = this.#deps.clock.nowMs();
    const isFresh = madeAtMs !== undefined && Math.abs(nowMs - madeAtMs) < ABANDONED_AFTER_S * MS_PER_S;
    if (isFresh) return new DomainError('payment_order_not_ready');
    return this.#mismatch(requestId, 'it has no order', payment);
  }

  /**
   * Logs a payment that does not match its order. Money may have been taken for nothing, so the operator must know; the
   * sender learns only that it was refused.
   */
  #mismatch(
    requestId: string,
    reason: string,
    payment?: { readonly id: string; readonly orderId: string | undefined },
  ): DomainError {
    const about = { paymentId: payment?.id, orderId: payment?.orderId };
    this.#deps.log.warn(
      { requestId, reason, ...about },
      'refused a verified payment that does not match an order',
    );
    return new DomainError('payment_mismatch');
  }
}

function eventOf(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    throw new DomainError('invalid_json');
  }
}
