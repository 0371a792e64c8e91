import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestCheckout, type TestCheckout } from './checkout.testing.js';
import { recountPurchases } from './purchase-recount-store.js';

let checkout: TestCheckout;

beforeAll(async () => {
  checkout = await createTestCheckout();
});
afterAll(() => checkout.close());

const recount = (differencesMax = 10) => recountPurchases(checkout.postgres, differencesMax);

/** Changes rows that the service itself never changes. */
const meddle = (table: string, statement: string) =>
  checkout.rows(
    `begin; alter table ${table} disable trigger user; ${statement}; alter table ${table} enable trigger user; commit`,
  );

/** Buys and pays a plan; returns the ids of order and grant. */
async function purchase(key: string, planId: string) {
  const { order_id: orderId } = (await checkout.buy({ key, planId })).json();
  const event = await checkout.paid(orderId);
  await checkout.deliver(event);
  const source = `sandbox:${event.data.object.id}`;
  const [grant] = await checkout.rows(`select id from entitlement_grants where source = '${source}'`);
  return { orderId, grantId: grant?.id };
}

it('what was paid is compared with what was granted for it, and with nothing else', async () => {
  const { tenantId } = checkout;
  const lost = await purchase('a', 'launch');
  const altered = await purchase('b', 'growth');
  const other = await purchase('c', 'scale');
  await checkout.buy({ key: 'unpaid' });
  await checkout.rows(`insert into entitlement_grants (tenant_id, id, plan_id, revision, plan, source, starts_at, ends_at, created_at)
    values ('${tenantId}', 'grt_given', 'launch', 1, '{}', 'operator:${tenantId}:sandbox:x', 1, 2, 1)`);
  expect(await recount()).toEqual({ orders: 3, difference_count: 0, differences: [] });

  await meddle('entitlement_grants', `delete from entitlement_grants where id = '${lost.grantId}'`);
  await meddle(
    'entitlement_grants',
    `update entitlement_grants set plan = jsonb_set(plan::jsonb, '{amount_minor}', '1') where id = '${altered.grantId}'`,
  );
  const elsewhere = await checkout.makeTenant();
  await meddle(
    'entitlement_grants',
    `update entitlement_grants set tenant_id = '${elsewhere}' where id = '${other.grantId}'`,
  );
  const of = { tenant_id: tenantId, order_id: null, grant_id: null };
  const differences = [
    { ...of, order_id: lost.orderId, expected: 'launch 1', found: 'nothing' },
    {
      ...of,
      order_id: altered.orderId,
      grant_id: altered.grantId,
      expected: 'growth 1',
      found: 'growth 1 on other terms',
    },
    { ...of, order_id: other.orderId, expected: 'scale 1', found: 'nothing' },
    { ...of, tenant_id: elsewhere, grant_id: other.grantId, expected: 'nothing', found: 'scale 1' },
  ];
  expect(await recount()).toEqual({
    orders: 3,
    difference_count: 4,
    differences: expect.arrayContaining(differences),
  });
  expect(await recount(1)).toMatchObject({ orders: 3, difference_count: 4, differences: [{}] });
});

it('an order whose amount is not that of its plan is found', async () => {
  const { orderId, grantId } = await purchase('e', 'launch');
  const before = (await recount()).difference_count;
  await meddle('payment_orders', `update payment_orders set amount_minor = 1 where id = '${orderId}'`);
  const { difference_count: after, differences } = await recount();
  expect(after).toBe(before + 1);
  const of = { tenant_id: checkout.tenantId, order_id: orderId, grant_id: grantId };
  expect(differences).toContainEqual({
    ...of,
    expected: 'launch 1 for 1 USD',
    found: 'launch 1 for 1900 USD',
  });
});

it('a grant of a payment whose order was never settled is found', async () => {
  const { orderId, grantId } = await purchase('d', 'launch');
  const before = (await recount()).difference_count;
  await meddle(
    'payment_orders',
    `update payment_orders set status = 'expired', payment_id = null, paid_at = null where id = '${orderId}'`,
  );
  const { difference_count: after, differences } = await recount();
  expect(after).toBe(before + 1);
  expect(differences).toContainEqual({
    tenant_id: checkout.tenantId,
    order_id: null,
    grant_id: grantId,
    expected: 'nothing',
    found: 'launch 1',
  });
});
