import type { PaymentOrderStatus } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import { present } from '../../kernel/present.js';
import type { Db, TenantDb, TenantTx } from '../../platform/postgres/index.js';
import type { Order } from './order.js';
import type { ProviderSession } from './provider.js';

const orderColumns = sql`
  id, tenant_id as "tenantId", status, plan, product_name as "productName", success_url as "successUrl", cancel_url as "cancelUrl", expires_at as "expiresAt", provider, session_id as "sessionId",
  session_url as "sessionUrl", session_expires_at as "sessionExpiresAt", payment_id as "paymentId",
  paid_at as "paidAt", created_at as "createdAt",
  (select coalesce(json_agg(json_build_object('kind', kind, 'reference', reference, 'amountMinor', r.amount_minor,
      'currency', r.currency, 'reason', reason, 'recordedAt', recorded_at) order by recorded_at, kind, reference), '[]')
    from payment_reversals r
    where r.provider = payment_orders.provider and r.payment_id = payment_orders.payment_id) as reversals`;

/**
 * Lets one transaction at a time read and change a tenant's orders: what it reads stays so until it commits. Taken
 * before any row, so that transactions cannot deadlock.
 */
export async function lockOrders(tx: TenantTx): Promise<void> {
  await tx.lock('orders');
}

/**
 * Returns and locks the order of a key. The lock keeps `attachSession` from giving it a page until `tx` ends, which the
 * tenant's lock would not.
 */
export async function findOrderOfKey(tx: TenantTx, key: string): Promise<Order | undefined> {
  return tx.row<Order>`
    select ${orderColumns} from payment_orders
    where ${tx.isOwn()} and id = (
      select order_id from payment_order_keys where ${tx.isOwn()} and key = ${key})
    for update`;
}

/** Returns and locks the pending order of a tenant, as `findOrderOfKey`. */
export async function findPendingOrder(tx: TenantTx): Promise<Order | undefined> {
  return tx.row<Order>`
    select ${orderColumns} from payment_orders where ${tx.isOwn()} and status = 'pending' for update`;
}

export async function findOrder(db: TenantDb, id: string): Promise<Order | undefined> {
  return db.row<Order>`select ${orderColumns} from payment_orders where ${db.isOwn()} and id = ${id}`;
}

/** Returns the tenant of an order. Only for provider events, which concern all tenants. */
export async function findTenantOfOrder(db: Db, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ tenantId: string }>`
    select tenant_id as "tenantId" from payment_orders where id = ${id}
  `.execute(db);
  return rows[0]?.tenantId;
}

export async function insertOrder(tx: TenantTx, order: Order): Promise<void> {
  const { plan } = order;
  await tx.change`
    insert into payment_orders (tenant_id, id, status, plan_id, plan_revision, plan, product_name, amount_minor,
      currency, success_url, cancel_url, expires_at, provider, created_at)
    values (${tx.ownValues()}, ${order.id}, ${order.status}, ${plan.id}, ${plan.revision}, ${JSON.stringify(plan)},
      ${order.productName}, ${plan.amount_minor}, ${plan.currency}, ${order.successUrl}, ${order.cancelUrl},
      ${order.expiresAt}, ${order.provider}, ${order.createdAt})`;
}

/** Stores that the key belongs to this order. */
export async function insertOrderKey(
  tx: TenantTx,
  id: string,
  key: string,
  createdAt: number,
): Promise<void> {
  await tx.insert('payment_order_keys', { key, order_id: id, created_at: createdAt }).execute();
}

export async function expireOrder(tx: TenantTx, id: string): Promise<void> {
  await tx.change`
    update payment_orders set status = 'expired' where ${tx.isOwn()} and id = ${id} and status = 'pending'`;
}

/** Stores the order's page, unless it has one already or has expired. Returns the order as it is then. */
export async function attachSession(
  db: TenantDb,
  id: string,
  session: ProviderSession,
): Promise<Order | undefined> {
  await db.change`
    update payment_orders
    set session_id = ${session.id}, session_url = ${session.url}, session_expires_at = ${session.expiresAt}
    where ${db.isOwn()} and id = ${id} and session_id is null and status <> 'expired'`;
  return findOrder(db, id);
}

export async function settleOrder(
  tx: TenantTx,
  id: string,
  paymentId: string,
  paidAt: number,
): Promise<void> {
  await tx.change`
    update payment_orders set status = 'paid', payment_id = ${paymentId}, paid_at = ${paidAt}
    where ${tx.isOwn()} and id = ${id}`;
}

/** Counts the orders of all tenants by status, for metrics. */
export async function countOrders(db: Db): Promise<Map<PaymentOrderStatus, number>> {
  const { rows } = await sql<{ status: PaymentOrderStatus; count: number }>`
    select status, count(*) as count from payment_orders group by status
  `.execute(db);
  return new Map(rows.map(({ status, count }) => [status, count]));
}

/** Returns a page of a tenant's orders, newest first, and the number of all. */
export async function listOrders(
  db: TenantDb,
  status: PaymentOrderStatus | undefined,
  page: Page,
): Promise<ListPage<Order>> {
  const chosen = db.part`${db.isOwn()} and (${status ?? null}::text is null or status = ${status ?? null})`;
  const items = await db.rows<Order>`
    select ${orderColumns} from payment_orders where ${chosen}
    order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const row = await db.row<{ total: number }>`select count(*) as total from payment_orders where ${chosen}`;
  return { items, totalCount: present(row, 'the number of orders').total };
}
