import {
  CheckoutHeaders,
  CheckoutSession,
  CreateCheckoutBody,
  ErrorBodySchema,
  PaymentOrder,
  PaymentOrderList,
  PaymentOrderParams,
  PaymentOrderQuery,
  TenantParams,
} from '@tollgate/contract';
import { type Principal, principalPermits } from '../../kernel/principal.js';
import {
  type App,
  boundToProject,
  lackingPermissions,
  pageOf,
  permissionDenied,
} from '../../platform/http/index.js';
import type { Checkouts } from './checkouts.js';
import { endOf, type Order } from './order.js';

const tags = ['Plans'];
const tenantAdmin = { access: { kind: 'tenant', permission: 'tenant:admin' } } as const;
/** A key for another tenant gets the same 403 whether or not the tenant exists. */
const buyer = { access: { kind: 'tenant', permission: 'tenant:admin', elsewhere: 'denied' } } as const;
const ORDERS_URL = '/admin/v1/tenants/:tenant_id/payments/orders';

const purchase = {
  tags,
  headers: CheckoutHeaders,
  body: CreateCheckoutBody,
  response: { 201: CheckoutSession, 403: ErrorBodySchema, 409: ErrorBodySchema, 502: ErrorBodySchema },
};

/** Registers the routes of purchases and their orders. */
export function registerCheckoutRoutes(app: App, checkouts: Checkouts): void {
  registerPurchases(app, checkouts);
  registerOrders(app, checkouts);
}

function registerPurchases(app: App, checkouts: Checkouts): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/tenants/:tenant_id/payments/provider/checkout-sessions',
    config: buyer,
    schema: {
      ...purchase,
      summary: 'Buy a subscription plan',
      description:
        'Creates an order, and returns the page of the payment provider on which one period of the plan is paid; ' +
        'redirect the browser there. While the order is active, a repeated request returns the same order and ' +
        'page, also with another key for the same plan. After 36 minutes, a request with the same key returns ' +
        '`payment_checkout_expired`. The plan is granted when the provider reports the payment: read the ' +
        'entitlement, and do not rely on the redirect.',
      operationId: 'createCheckoutSession',
      params: TenantParams,
    },
    handler: async (request, reply) => {
      const session = await checkouts.create({
        tenantId: request.params.tenant_id,
        planId: request.body.plan_id,
        key: request.headers['idempotency-key'],
        principal: request.principal,
        requestId: request.id,
      });
      return reply.code(201).send(session);
    },
  });
  app.route({
    method: 'POST',
    url: '/api/payments/provider/checkout-sessions',
    config: { access: { kind: 'any-key' } },
    schema: {
      ...purchase,
      summary: 'Buy a subscription plan for my tenant',
      description:
        'Creates an order for the tenant of the key, as the console does. Needs a key with `tenant:admin`.',
      operationId: 'createOwnCheckoutSession',
    },
    handler: async (request, reply) => {
      const session = await checkouts.create({
        tenantId: administeredBy(request.principal),
        planId: request.body.plan_id,
        key: request.headers['idempotency-key'],
        principal: request.principal,
        requestId: request.id,
      });
      return reply.code(201).send(session);
    },
  });
}

function registerOrders(app: App, checkouts: Checkouts): void {
  app.route({
    method: 'GET',
    url: ORDERS_URL,
    config: tenantAdmin,
    schema: {
      tags,
      summary: 'List the payment orders of a tenant',
      description: 'Newest first.',
      operationId: 'listPaymentOrders',
      params: TenantParams,
      querystring: PaymentOrderQuery,
      response: { 200: PaymentOrderList },
    },
    handler: async ({ params, query }) => {
      const page = pageOf(query);
      const { items, totalCount } = await checkouts.list(params.tenant_id, query.status, page);
      return { orders: items.map(orderAnswer), total_count: totalCount, ...page };
    },
  });
  app.route({
    method: 'GET',
    url: `${ORDERS_URL}/:order_id`,
    config: tenantAdmin,
    schema: {
      tags,
      summary: 'Read a payment order',
      description: 'Returns what was ordered, and the state of its payment.',
      operationId: 'getPaymentOrder',
      params: PaymentOrderParams,
      response: { 200: PaymentOrder },
    },
    handler: async ({ params }) => orderAnswer(await checkouts.read(params.tenant_id, params.order_id)),
  });
}

/**
 * Returns the one tenant that the key administers.
 *
 * @throws DomainError `permission_denied`
 */
function administeredBy(principal: Principal): string {
  if (principal.kind === 'service') {
    throw permissionDenied('The service key does not belong to a tenant: use an admin key of the tenant.');
  }
  if (!principalPermits(principal, 'tenant:admin')) throw lackingPermissions(principal, 'tenant:admin');
  if (principal.projectId !== undefined) throw boundToProject();
  return principal.tenantId;
}

function orderAnswer(order: Order): PaymentOrder {
  const { plan } = order;
  return {
    order_id: order.id,
    tenant_id: order.tenantId,
    status: order.status,
    plan_id: plan.id,
    plan_revision: plan.revision,
    product_name: order.productName,
    amount_minor: plan.amount_minor,
    currency: plan.currency,
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
    provider: order.provider,
    session_id: order.sessionId,
    session_url: order.sessionUrl,
    payment_id: order.paymentId,
    expires_at: endOf(order),
    paid_at: order.paidAt,
    refunded_amount_minor: order.reversals.reduce(
      (sum, { kind, amountMinor }) => (kind === 'refund' ? sum + amountMinor : sum),
      0,
    ),
    reversals: order.reversals.map(({ kind, reference, amountMinor, currency, reason, recordedAt }) => ({
      kind,
      reference,
      amount_minor: amountMinor,
      currency: currency.toUpperCase(),
      reason,
      recorded_at: recordedAt,
    })),
    created_at: order.createdAt,
  };
}
