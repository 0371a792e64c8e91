import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestCheckout, type TestCheckout } from './checkout.testing.js';
import { countOrders } from './order-store.js';
import { PAYMENT_WEBHOOK_URL } from './webhook-routes.js';

let checkout: TestCheckout;

beforeAll(async () => {
  checkout = await createTestCheckout();
});
afterAll(() => checkout.close());

/** Returns the counts of a metric by its label. */
async function counts(name: string) {
  const metric = await checkout.metrics.getSingleMetric(name)?.get();
  return Object.fromEntries(
    metric?.values.map(({ labels, value }) => [Object.values(labels)[0] ?? '', value]) ?? [],
  );
}

it('payments are counted once, deliveries each, and pages by what became of them', async () => {
  checkout.provider.failOnce('before');
  await checkout.buy({ key: 'k' });
  const { order_id: orderId } = (await checkout.buy({ key: 'k' })).json();
  const event = await checkout.paid(orderId);
  checkout.quota.failures = 1;
  await checkout.deliver(event);
  await checkout.deliver(event);
  await checkout.deliver({ ...event, type: 'charge.succeeded' });
  await checkout.deliver(event, { 'payment-signature': 't=1,v1=00' });
  await checkout.deliver(await checkout.paid(orderId, { amount: 1 }));
  await checkout.app.inject({ method: 'POST', url: PAYMENT_WEBHOOK_URL });
  expect(await counts('tollgate_payments_settled_total')).toEqual({ '': 1 });
  expect(await counts('tollgate_payment_sessions_total')).toEqual({ failed: 1, opened: 1 });
  expect(await counts('tollgate_payment_webhooks_total')).toEqual({
    quota_initialization_failed: 1,
    received: 1,
    ignored: 1,
    invalid_signature: 2,
    payment_mismatch: 1,
  });
});

it('orders are counted by status', async () => {
  await checkout.anew();
  const before = await countOrders(checkout.postgres.db);
  await checkout.buy({ key: 'k' });
  const after = await countOrders(checkout.postgres.db);
  expect([before.get('paid'), after.get('paid')]).toEqual([1, 1]);
  expect((after.get('pending') ?? 0) - (before.get('pending') ?? 0)).toBe(1);
});
