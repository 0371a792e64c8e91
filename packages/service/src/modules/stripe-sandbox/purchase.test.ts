import type { CheckoutSession } from '@tollgate/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { createTestShop, type TestShop } from './sandbox.testing.js';

let shop: TestShop;
let stopDeliveries: (() => Promise<void>) | undefined;

beforeAll(async () => {
  shop = await createTestShop();
});
afterEach(async () => {
  await stopDeliveries?.();
  stopDeliveries = undefined;
});
afterAll(() => shop.close());

const checkoutUrl = (tenantId: string) => `/admin/v1/tenants/${tenantId}/payments/provider/checkout-sessions`;

/** Buys over HTTP, as a shop's server would. */
async function buy(tenantId: string, key: string, planId = 'growth') {
  const answer = await fetch(shop.url + checkoutUrl(tenantId), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shop.serviceKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ plan_id: planId }),
  });
  return { status: answer.status, body: (await answer.json()) as CheckoutSession };
}

/** Sends a form as a browser does. */
function submit(url: string) {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    redirect: 'manual',
  });
}

const orderOf = async (tenantId: string) =>
  (await shop.call('GET', `/admin/v1/tenants/${tenantId}/payments/orders`)).json().orders[0];
const rows = async (sql: string) => (await shop.postgres.pool.query(sql)).rows;
const grantsOf = (tenantId: string) =>
  rows(`select * from entitlement_grants where tenant_id = '${tenantId}'`);

describe('a purchase at the sandbox', () => {
  it('goes over HTTP from the checkout to the grant', async () => {
    const tenantId = await shop.makeTenant();
    stopDeliveries = shop.startDeliveries();
    const { status, body } = await buy(tenantId, 'k');
    expect(status).toBe(201);
    expect(body.session_id).toMatch(/^cs_test_[\w-]{43}$/);
    expect(body.session_url).toBe(`${shop.url}/sandbox/checkout/${body.session_id}`);
    const page = await fetch(body.session_url);
    expect(page.status).toBe(200);
    expect(await page.text()).toMatch(/Tollgate Growth, one month[\s\S]*199\.00 USD/);
    const paid = await submit(`${body.session_url}/pay`);
    expect([paid.status, paid.headers.get('location')]).toEqual([303, `${shop.url}/sandbox/return/success`]);
    await waitFor(async () => (await orderOf(tenantId)).status === 'paid', { what: 'the payment' });
    expect(await grantsOf(tenantId)).toMatchObject([{ plan_id: 'growth', revision: 1 }]);
    const counted = /^tollgate_payment_orders\{status="paid"\} \d$/m;
    await waitFor(async () => counted.test(await shop.metrics.metrics()), { what: 'the number of orders' });
    await waitFor(async () => (await rows('select 1 from sandbox_events')).length === 0);
    expect(await (await fetch(body.session_url)).text()).toContain('>Paid<');
    // Paying again redirects and pays nothing.
    expect((await submit(`${body.session_url}/pay`)).status).toBe(303);
    expect((await submit(`${body.session_url}/decline`)).status).toBe(303);
    expect(await rows('select 1 from sandbox_events')).toEqual([]);
  });

  it('that is declined can be paid afterwards, and sends both events', async () => {
    const tenantId = await shop.makeTenant();
    const { body } = await buy(tenantId, 'k');
    const declined = await submit(`${body.session_url}/decline`);
    expect([declined.status, declined.headers.get('location')]).toEqual([303, `../${body.session_id}`]);
    expect(new URL(declined.headers.get('location') ?? '', declined.url).href).toBe(body.session_url);
    const page = await (await fetch(body.session_url)).text();
    expect(page).toContain('The card was declined');
    const actions = Array.from(
      page.matchAll(/ action="([^"]+)"/g),
      ([, action = '']) => new URL(action, body.session_url).href,
    );
    expect(actions).toEqual([`${body.session_url}/pay`, `${body.session_url}/decline`]);
    await submit(`${body.session_url}/pay`);
    const events = (await rows('select body from sandbox_events order by created_at_ms, id')).map((row) =>
      JSON.parse(row.body),
    );
    expect(events.map(({ type, data }) => [type, data.object.status, data.object.amount_received])).toEqual([
      ['payment_intent.payment_failed', 'requires_payment_method', 0],
      ['payment_intent.succeeded', 'succeeded', 19_900],
    ]);
    stopDeliveries = shop.startDeliveries();
    await waitFor(async () => (await orderOf(tenantId)).status === 'paid', { what: 'the payment' });
  });

  it('is sent again until it was received, also by the next process', async () => {
    const tenantId = await shop.makeTenant();
    const { body } = await buy(tenantId, 'k');
    await submit(`${body.session_url}/pay`);
    shop.quota.failures = 1;
    stopDeliveries = shop.startDeliveries();
    await waitFor(() => shop.warnings.some((line) => line.includes('a sandbox event was not received')));
    await stopDeliveries();
    expect(await rows('select attempts from sandbox_events')).toEqual([{ attempts: 1 }]);
    stopDeliveries = shop.startDeliveries();
    shop.clock.advanceMs(1_000);
    await waitFor(async () => (await rows('select 1 from sandbox_events')).length === 0);
    expect((await grantsOf(tenantId)).length).toBe(1);
    expect(shop.quota.tried.filter((id) => id === tenantId).length).toBe(2);
  });

  it('a hundred times at once with one key is one order and one session', async () => {
    const tenantId = await shop.makeTenant();
    const answers = await Promise.all(Array.from({ length: 100 }, () => buy(tenantId, 'k')));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    const sessions = await rows(
      `select 1 from sandbox_sessions where payment_metadata ->> 'tenant_id' = '${tenantId}'`,
    );
    expect(sessions.length).toBe(1);
  });

  it('cannot be paid once the page has closed', async () => {
    const tenantId = await shop.makeTenant();
    const { body } = await buy(tenantId, 'k');
    shop.clock.advanceMs(36 * 60_000 - 1);
    expect((await fetch(body.session_url)).status).toBe(200);
    shop.clock.advanceMs(1);
    for (const answer of [await fetch(body.session_url), await submit(`${body.session_url}/pay`)]) {
      expect(answer.status).toBe(410);
      expect(await answer.text()).toContain('This checkout has expired');
    }
    expect(await rows('select 1 from sandbox_events')).toEqual([]);
  });
});

describe('a session of the sandbox', () => {
  it('is forgotten thirty days after it has ended, and no day before', async () => {
    const tenantId = await shop.makeTenant();
    const { body } = await buy(tenantId, 'k');
    await submit(`${body.session_url}/pay`);
    const { clock } = shop;
    const DAY_MS = 86_400_000;
    const status = async () => (await fetch(body.session_url)).status;
    const sweep = async () => {
      const stop = shop.startDeliveries();
      await waitFor(async () => (await rows('select 1 from sandbox_events')).length === 0);
      await stop();
    };
    clock.advanceMs(30 * DAY_MS + 36 * 60_000);
    await sweep();
    expect(await status()).toBe(200);
    clock.advanceMs(1_000);
    stopDeliveries = shop.startDeliveries();
    await waitFor(async () => (await status()) === 404, { what: 'the end of the session' });
    // The stored order contains all that is needed.
    expect((await buy(tenantId, 'k')).body).toEqual(body);
    clock.advanceMs(-30 * DAY_MS - 36 * 60_000 - 1_000);
  });
});

describe('the pages of the sandbox', () => {
  it('allow nothing but themselves, and are kept by nobody', async () => {
    const { body } = await buy(await shop.makeTenant(), 'k');
    const { headers } = await fetch(body.session_url);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'self' http:\/\/127\.0\.0\.1:\d+; frame-ancestors 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('are not there for an id that nobody was given', async () => {
    for (const id of ['cs_test_x', `cs_test_${'A'.repeat(43)}`, '<script>']) {
      const answer = await fetch(`${shop.url}/sandbox/checkout/${encodeURIComponent(id)}`);
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toContain(id);
    }
    expect((await submit(`${shop.url}/sandbox/checkout/cs_test_x/pay`)).status).toBe(404);
  });

  it('stand in for those of the shop', async () => {
    expect(await (await fetch(`${shop.url}/sandbox/return/success`)).text()).toContain('Thank you');
    expect(await (await fetch(`${shop.url}/sandbox/return/cancel`)).text()).toContain('You were not charged');
    expect((await fetch(`${shop.url}/sandbox/return/other`)).status).toBe(404);
  });
});

describe('with Stripe configured', () => {
  it('nothing of the sandbox is there', async () => {
    const { body } = await buy(await shop.makeTenant(), 'k');
    const { pathname } = new URL(body.session_url);
    const secrets = { stripeApiKey: 'sk_test_x', webhookSecrets: ['whsec_x'] };
    const other = await createTestShop({ provider: 'stripe', ...secrets });
    for (const path of [pathname, '/sandbox/return/success', '/sandbox/v1/checkout/sessions/x']) {
      const here = await fetch(other.url + path);
      const nowhere = await fetch(`${other.url}/nowhere`);
      expect([here.status, await here.text()]).toEqual([404, await nowhere.text()]);
    }
    for (const path of [`${pathname}/pay`, `${pathname}/decline`, '/sandbox/v1/checkout/sessions']) {
      expect((await submit(other.url + path)).status).toBe(404);
    }
    expect(other.app.routeTable.routes.filter(({ url }) => url.includes('sandbox'))).toEqual([]);
    await other.close();
  });

  it('as nobody, nothing can be bought, and there is no sandbox', async () => {
    const other = await createTestShop({ provider: undefined, webhookSecrets: ['whsec_x'] });
    const headers = { 'idempotency-key': 'k' };
    const buy = (body: object) => other.call('POST', checkoutUrl(other.tenantId), body, undefined, headers);
    for (const planId of ['launch', 'scale', 'no such plan']) {
      const answer = await buy({ plan_id: planId });
      expect([answer.status, answer.json().code]).toEqual([503, 'payments_not_configured']);
    }
    const orders = await other.call('GET', `/admin/v1/tenants/${other.tenantId}/payments/orders`);
    expect(orders.json()).toMatchObject({ orders: [], total_count: 0 });
    expect(other.app.routeTable.routes.filter(({ url }) => url.includes('sandbox'))).toEqual([]);
    await other.close();
  });

  it.each([
    { webhookSecrets: ['whsec_x'], successUrl: 'https://x.example', cancelUrl: 'https://x.example' },
    { stripeApiKey: 'sk_test_x', successUrl: 'https://x.example', cancelUrl: 'https://x.example' },
    { stripeApiKey: 'sk_test_x', webhookSecrets: ['whsec_x'], cancelUrl: 'https://x.example' },
    { stripeApiKey: 'sk_test_x', webhookSecrets: ['whsec_x'], successUrl: 'https://x.example' },
  ])('in part, nothing can be bought: %j', async (settings) => {
    const other = await createTestShop({ provider: 'stripe', ...settings });
    const headers = { 'idempotency-key': 'k' };
    const body = { plan_id: 'launch' };
    const answer = await other.call('POST', checkoutUrl(other.tenantId), body, undefined, headers);
    expect([answer.status, answer.json().code]).toEqual([400, 'checkout_not_configured']);
    await other.close();
  });
});
