import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkoutUrl, createTestCheckout, type TestCheckout, verdict } from './checkout.testing.js';

const MINUTE_MS = 60_000;

let checkout: TestCheckout;

beforeAll(async () => {
  checkout = await createTestCheckout();
});
beforeEach(() => checkout.anew());
afterAll(() => checkout.close());

describe('the request of a checkout', () => {
  it.each([
    ['no key', undefined],
    ['an empty key', ''],
    ['a key that is too long', 'k'.repeat(256)],
  ])('with %s is a 400', async (_what, key) => {
    const headers = key === undefined ? undefined : { 'idempotency-key': key };
    const body = { plan_id: 'launch' };
    const answer = await checkout.call('POST', checkoutUrl(checkout.tenantId), body, undefined, headers);
    expect(verdict(answer)).toBe('400 invalid_request');
  });

  it('takes a key of 255 characters', async () => {
    expect(verdict(await checkout.buy({ key: 'k'.repeat(255) }))).toBe(201);
  });

  it.each([
    {},
    { plan_id: 'enterprise' },
    { plan_id: 'absent' },
    { plan_id: 1 },
    { plan_id: 'launch', amount_minor: 1 },
    { plan_id: 'launch', currency: 'USD' },
    { plan_id: 'launch', metadata: {} },
    { plan_id: 'launch', success_url: 'https://evil.example' },
  ])('is refused as %j', async (body) => {
    const headers = { 'idempotency-key': 'k' };
    const answer = await checkout.call('POST', checkoutUrl(checkout.tenantId), body, undefined, headers);
    expect(verdict(answer)).toBe('400 invalid_request');
    expect(await checkout.orders()).toEqual([]);
  });

  it('is refused for the plan that is agreed on with each buyer, even when it has a price', async () => {
    await checkout.rows(`insert into catalog_plans
      select (jsonb_populate_record(p, '{"revision": 2, "amount_minor": 99900}')).* from catalog_plans p
      where id = 'enterprise'`);
    expect(verdict(await checkout.buy({ key: 'k', planId: 'enterprise' }))).toBe('400 invalid_request');
    expect(await checkout.orders()).toEqual([]);
  });

  it('is for the service and for administrators of the tenant', async () => {
    const { tenantId } = checkout;
    const elsewhere = await checkout.makeTenant();
    const by = async (apiKey: string, of = tenantId) =>
      verdict(await checkout.buy({ key: 'k', tenantId: of, apiKey }));
    expect(await by('')).toBe('401 unauthenticated');
    expect(await by(await checkout.makeKey(tenantId, ['billing:read']))).toBe('403 permission_denied');
    const foreigner = await checkout.makeKey(elsewhere, ['tenant:admin']);
    expect(await by(foreigner)).toBe('403 permission_denied');
    expect(await by(foreigner, 'ten_absent')).toBe('403 permission_denied');
    expect(await by(await checkout.makeKey(tenantId, ['tenant:admin']))).toBe(201);
    expect(await by(checkout.serviceKey)).toBe(201);
    expect(await by(checkout.serviceKey, 'ten_absent')).toBe('404 not_found');
  });

  it('is a 400 while checkout is not configured, and leaves no order', async () => {
    checkout.urls.cancel = undefined;
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe('400 checkout_not_configured');
    expect(await checkout.orders()).toEqual([]);
  });

  it('can be sent for the own tenant', async () => {
    const own = (apiKey: string) =>
      checkout.call('POST', '/api/payments/provider/checkout-sessions', { plan_id: 'launch' }, apiKey, {
        'idempotency-key': 'k',
      });
    const admin = await checkout.makeKey(checkout.tenantId, ['tenant:admin']);
    const answer = await own(admin);
    expect(answer.status).toBe(201);
    expect((await checkout.buy({ key: 'k' })).json()).toEqual(answer.json());
    expect(verdict(await own(checkout.serviceKey))).toBe('403 permission_denied');
    expect(verdict(await own(await checkout.makeKey(checkout.tenantId, ['billing:read'])))).toBe(
      '403 permission_denied',
    );
  });
});

describe('orders', () => {
  it('are listed newest first, by status if wanted, and read one by one', async () => {
    const made = [];
    for (const key of ['a', 'b', 'c']) {
      made.push((await checkout.buy({ key })).json().order_id);
      checkout.clock.advanceMs(36 * MINUTE_MS);
    }
    const url = `/admin/v1/tenants/${checkout.tenantId}/payments/orders`;
    const page = (await checkout.call('GET', `${url}?limit=2`)).json();
    expect(page).toMatchObject({ total_count: 3, limit: 2, offset: 0 });
    expect(page.orders.map(({ order_id }: Row) => order_id)).toEqual([made[2], made[1]]);
    const expired = (await checkout.call('GET', `${url}?status=expired`)).json();
    expect(expired.orders.map(({ order_id }: Row) => order_id)).toEqual([made[1], made[0]]);
    const one = await checkout.call('GET', `${url}/${made[0]}`);
    expect(one.json()).toEqual(expired.orders[1]);
    expect((await checkout.call('GET', `${url}/ord_absent`)).status).toBe(404);
    expect((await checkout.call('GET', `${url}?status=open`)).status).toBe(400);
    expect((await checkout.call('GET', '/admin/v1/tenants/ten_absent/payments/orders')).status).toBe(404);
  });

  it('never change in what was bought, nor go back', async () => {
    const { order_id: orderId } = (await checkout.buy({ key: 'k' })).json();
    const change = (set: string) => checkout.rows(`update payment_orders set ${set} where id = '${orderId}'`);
    await expect(change('amount_minor = 1')).rejects.toThrow(/must not change so/);
    await expect(change(`session_id = 'x'`)).rejects.toThrow(/must not change so/);
    await checkout.deliver(await checkout.paid(orderId));
    await expect(change(`status = 'expired', payment_id = null, paid_at = null`)).rejects.toThrow(/must not/);
    await expect(checkout.rows('delete from payment_orders')).rejects.toThrow();
  });
});

type Row = Readonly<Record<string, unknown>>;
