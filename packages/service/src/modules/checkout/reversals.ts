import type { PaymentProviderName } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { TenantTx, type Tx } from '../../platform/postgres/index.js';
import { endGrantOfSource } from '../catalog/index.js';
import { audit } from '../tenancy/index.js';
import { emitToTenant } from '../webhooks/index.js';
import { grantSourceOf, type Order } from './order.js';
import { findOrder, findTenantOfOrder, lockOrders } from './order-store.js';
import type { ReversalEvent } from './payment-event.js';
import * as store from './reversal-store.js';

/** How long a dispute of an unknown payment is kept, because the event about the payment may arrive late. */
const UNMATCHED_KEPT_S = 30 * 24 * 3_600;
const EVENT_TYPES = { refund: 'payment.refunded', dispute: 'payment.disputed' } as const;

const LOG_TEXTS = { refund: 'a payment was refunded', dispute: 'a payment is disputed' } as const;

export interface ReversalDeps {
  readonly clock: Clock;
  readonly log: { warn(details: object, message: string): void };
  /** Whether a refunded or disputed payment ends its plan. */
  readonly refundEndsPlan: boolean;
}

/**
 * The tenant whose order records the event, `ignored` if the payment is not ours, or the reason why the event
 * is invalid.
 */
export type ReversalOutcome = { readonly tenantId: string } | 'ignored' | { readonly difference: string };

/** Records and reports refunds and disputes of payments once, in whatever sequence they arrive. */
export class Reversals {
  readonly #deps: ReversalDeps;

  constructor(deps: ReversalDeps) {
    this.#deps = deps;
  }

  /** Takes one event; a repeated one, or an older one than what is recorded, changes nothing. */
  async take(
    tx: Tx,
    provider: PaymentProviderName,
    event: ReversalEvent,
    requestId: string,
  ): Promise<ReversalOutcome> {
    const nowS = unixSeconds(this.#deps.clock);
    await store.lockPayment(tx, provider, event.paymentId);
    const place = await placeOf(tx, provider, event);
    if (place === undefined) {
      if (event.kind === 'refund') return event.named === undefined ? 'ignored' : NO_ORDER;
      // A dispute does not name its order, and its payment may be reported later.
      await store.forgetUnmatched(tx, nowS - UNMATCHED_KEPT_S);
      await store.recordReversal(tx, provider, event, nowS);
      return 'ignored';
    }
    const own = new TenantTx(tx, place.tenantId);
    await lockOrders(own);
    const order = await findOrder(own, place.id);
    if (order === undefined) throw new Error('the order was not found any more');
    const difference = differenceOf(event, order, provider);
    if (difference !== undefined) return { difference };
    if (await store.recordReversal(tx, provider, event, nowS)) {
      await this.#announce(tx, order, event, requestId);
      if (await this.endsPlan(tx, order, event.paymentId)) {
        await endGrantOfSource(tx, order.tenantId, grantSourceOf(order, event.paymentId), nowS);
      }
    }
    return { tenantId: order.tenantId };
  }

  /** Reports the disputes of a payment that arrived before it, when their order was unknown. */
  async announceEarlier(tx: Tx, order: Order, paymentId: string, requestId: string): Promise<void> {
    for (const reversal of await store.reversalsOfPayment(tx, order.provider, paymentId)) {
      if (reversal.kind === 'dispute') await this.#announce(tx, order, { ...reversal, paymentId }, requestId);
    }
  }

  /** Whether the payment gives no right to its plan any more: it is disputed or fully refunded. */
  async endsPlan(tx: Tx, order: Order, paymentId: string): Promise<boolean> {
    if (!this.#deps.refundEndsPlan) return false;
    const reversals = await store.reversalsOfPayment(tx, order.provider, paymentId);
    if (reversals.some(({ kind }) => kind === 'dispute')) return true;
    const refunded = reversals.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
    return refunded >= order.plan.amount_minor;
  }

  async #announce(
    tx: Tx,
    order: Order,
    reversal: Omit<ReversalEvent, 'named'>,
    requestId: string,
  ): Promise<void> {
    const { clock, log } = this.#deps;
    const { kind, reference, amountMinor } = reversal;
    const data = {
      order_id: order.id,
      plan_id: order.plan.id,
      payment_id: reversal.paymentId,
      reference,
      amount_minor: amountMinor,
      order_amount_minor: order.plan.amount_minor,
      currency: reversal.currency.toUpperCase(),
      reason: reversal.reason,
      ends_plan: await this.endsPlan(tx, order, reversal.paymentId),
    };
    const atMs = clock.nowMs();
    await emitToTenant(tx, {
      tenantId: order.tenantId,
      type: EVENT_TYPES[kind],
      data,
      dedupeKey: `${EVENT_TYPES[kind]}:${order.provider}:${reference}:${amountMinor}`,
      atMs,
    });
    await audit(tx, {
      tenantId: order.tenantId,
      principal: { kind: 'service' },
      action: `payment_order.${kind}`,
      resourceType: 'payment_order',
      resourceId: order.id,
      change: data,
      requestId,
      atMs,
    });
    log.warn({ requestId, tenantId: order.tenantId, ...data }, LOG_TEXTS[kind]);
  }
}

const NO_ORDER = { difference: 'it has no order' } as const;

/** The order that the event is about: the one that was paid, or the one that the charge names. */
async function placeOf(
  tx: Tx,
  provider: PaymentProviderName,
  { paymentId, named }: ReversalEvent,
): Promise<Pick<Order, 'tenantId' | 'id'> | undefined> {
  const paid = await store.findOrderOfPayment(tx, provider, paymentId);
  if (paid !== undefined || named === undefined) return paid;
  const tenantId = await findTenantOfOrder(tx, named.orderId);
  return tenantId === named.tenantId ? { tenantId, id: named.orderId } : undefined;
}

/** The reason why the event cannot be about the order. Banks may dispute another amount than was paid. */
function differenceOf(event: ReversalEvent, order: Order, provider: PaymentProviderName): string | undefined {
  if (order.provider !== provider) return 'its order is with another provider';
  if (order.paymentId !== null && order.paymentId !== event.paymentId)
    return 'its order was paid by another payment';
  if (event.kind === 'dispute') return undefined;
  if (event.currency !== order.plan.currency.toLowerCase()) return 'it is in another currency';
  if (event.amountMinor > order.plan.amount_minor) return 'more was refunded than was paid';
  return undefined;
}
