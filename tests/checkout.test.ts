import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { hasBrowser, launchBrowser, problemsOf } from './support/browser.js';
import { call } from './support/http.js';
import { deliver, disputeOf, refundOf } from './support/payment-reversals.js';
import { type RunningService, startService } from './support/service.js';

const SECRET = 'whsec_of_this_test';
/** A service is killed and starts again, and what it had in hand counts as lost only after a while. */
const CRASH_MS_MAX = 480_000;

let service: RunningService;

beforeAll(async () => {
  service = await startService({
    env: {
      TOLLGATE_PAYMENT_PROVIDER: 'sandbox',
      TOLLGATE_PAYMENT_WEBHOOK_SECRET: SECRET,
      TOLLGATE_REFUND_ENDS_PLAN: '1',
    },
  });
});
afterAll(() => service?.stop());

/** A request with the service key. */
const operate = (method: string, path: string, body?: object, idempotencyKey?: string) =>
  call(service, method, path, { key: service.serviceKey, body, idempotencyKey });

async function newTenant(): Promise<string> {
  return (await operate('POST', '/admin/v1/tenants', { name: 'Acme' })).body.id ?? '';
}

/** The page on which a tenant pays a plan. */
async function pageToPay(tenantId: string, planId: string): Promise<string> {
  const url = `/admin/v1/tenants/${tenantId}/payments/provider/checkout-sessions`;
  const { status, body } = await operate('POST', url, { plan_id: planId }, `key of ${planId}`);
  expect([status, body.error]).toEqual([201, undefined]);
  return body.session_url ?? '';
}

async function planOf(tenantId: string): Promise<string | undefined> {
  return (await operate('GET', `/admin/v1/tenants/${tenantId}/entitlement`)).body.plan_id;
}

it('says loudly at its start that the sandbox takes no money', () => {
  expect(service.output).toContain('PAYMENTS ARE NOT REAL');
});

describe('a purchase from a service that is killed', { timeout: CRASH_MS_MAX }, () => {
  it('right after it was paid is granted once it is back', async () => {
    const tenantId = await newTenant();
    const url = await pageToPay(tenantId, 'growth');
    const paid = await fetch(`${url}/pay`, { method: 'POST', redirect: 'manual' });
    expect(paid.status).toBe(303);
    await service.crash();
    await service.start();
    const timeoutMs = 60_000;
    await waitFor(async () => (await planOf(tenantId)) === 'growth', { what: 'the plan', timeoutMs });
    const { body } = await operate('GET', `/admin/v1/tenants/${tenantId}/payments/orders`);
    expect(body).toMatchObject({ total_count: 1, orders: [{ status: 'paid', plan_id: 'growth' }] });
  });

  it('right after it was begun goes on with the same key', async () => {
    const tenantId = await newTenant();
    const url = await pageToPay(tenantId, 'launch');
    await service.crash();
    await service.start();
    expect(await pageToPay(tenantId, 'launch')).toBe(url);
    expect((await fetch(url)).status).toBe(200);
  });
});

describe('a purchase that is given back', () => {
  const orderOf = async (tenantId: string) =>
    (await operate('GET', `/admin/v1/tenants/${tenantId}/payments/orders`)).body.orders[0];

  async function paid(planId: string): Promise<string> {
    const tenantId = await newTenant();
    await fetch(`${await pageToPay(tenantId, planId)}/pay`, { method: 'POST', redirect: 'manual' });
    await waitFor(async () => (await planOf(tenantId)) === planId, { what: 'the plan' });
    return tenantId;
  }

  it('ends its plan, is found correct by tollgate verify, and another purchase starts over', async () => {
    const refunded = await paid('growth');
    const disputed = await paid('launch');
    const kept = await paid('launch');
    const part = await orderOf(kept);
    expect(await deliver(service, SECRET, refundOf(part, part.amount_minor - 1))).toMatchObject({
      status: 200,
    });
    const received = { status: 200, body: { received: true } };
    for (let times = 0; times < 2; times += 1) {
      expect(await deliver(service, SECRET, refundOf(await orderOf(refunded)))).toEqual(received);
      expect(await deliver(service, SECRET, disputeOf(await orderOf(disputed)))).toEqual(received);
    }
    for (const tenantId of [refunded, disputed]) {
      await waitFor(async () => (await planOf(tenantId)) === 'unlimited', { what: 'the end of the plan' });
      const { body } = await operate('GET', `/admin/v1/tenants/${tenantId}/grants`);
      expect(body.grants).toMatchObject([{ ended_at: expect.any(Number) }]);
    }
    expect(await planOf(kept)).toBe('launch');
    expect(await orderOf(refunded)).toMatchObject({ status: 'paid', reversals: [{ kind: 'refund' }] });
    const verify = async () => {
      const { exitCode, stdout } = await service.runCommand(['verify']);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('  paid orders and their grants: ')]);
    };
    await verify();
    const again = await operate(
      'POST',
      `/admin/v1/tenants/${refunded}/grants`,
      { plan_id: 'growth' },
      'again',
    );
    expect(again.status).toBe(201);
    expect(await planOf(refunded)).toBe('growth');
    await verify();
  });
});

describe('a purchase by somebody who is signed in', () => {
  it('is that of the tenant, under the key that the browser sends, and asks for the token of the session', async () => {
    const tenantId = await newTenant();
    const keys = `/admin/v1/tenants/${tenantId}/api-keys`;
    const { body: admin } = await operate('POST', keys, { name: 'x', permissions: ['tenant:admin'] });
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(service.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const signedIn = await post('/api/session', { api_key: admin.key });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { csrf_token: token } = (await signedIn.json()) as { csrf_token: string };
    const buy = (headers: Record<string, string>) =>
      post('/api/payments/provider/checkout-sessions', { plan_id: 'launch' }, headers);
    const key = { 'idempotency-key': 'key of launch' };
    expect((await buy({ ...key, 'x-csrf-token': token })).status).toBe(401);
    expect((await buy({ ...key, cookie })).status).toBe(401);
    expect((await buy({ cookie, 'x-csrf-token': token })).status).toBe(400);
    const bought = await buy({ ...key, cookie, 'x-csrf-token': token });
    expect(bought.status).toBe(201);
    const { session_url: url } = (await bought.json()) as { session_url: string };
    expect(await pageToPay(tenantId, 'launch')).toBe(url);
  });
});

describe.runIf(hasBrowser)('the page of the sandbox in a browser', () => {
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage();
    problems = problemsOf(page, service.url);
  });
  afterAll(() => browser?.close());

  it('is declined, cancelled, come back to and paid', async () => {
    const tenantId = await newTenant();
    await page.goto(await pageToPay(tenantId, 'scale'));
    await page.getByText('Test mode.').waitFor();
    await page.getByRole('heading', { name: 'Tollgate Scale, one month' }).waitFor();
    await page.getByRole('button', { name: 'Pay with a declined test card' }).click();
    await page.getByRole('alert').getByText('The card was declined').waitFor();
    await page.getByRole('link', { name: 'Cancel and go back' }).click();
    await page.getByRole('heading', { name: 'Cancelled' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Pay 499.00 USD' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await waitFor(async () => (await planOf(tenantId)) === 'scale', { what: 'the plan' });
    await page.goBack();
    await page.reload();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
  });

  it('loads nothing from elsewhere, breaks no content policy and logs no error', () => {
    expect(problems).toEqual([]);
  });
});
