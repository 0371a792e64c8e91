import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestCheckout, type TestCheckout, verdict } from './checkout.testing.js';
import { PaymentProviderError } from './provider.js';

const MINUTE_MS = 60_000;

let checkout: TestCheckout;

beforeAll(async () => {
  checkout = await createTestCheckout();
});
beforeEach(() => checkout.anew());
afterAll(() => checkout.close());

let startS: number;
beforeEach(() => {
  // Every test begins at a full second.
  checkout.clock.advanceMs(1_000 - (checkout.clock.nowMs() % 1_000));
  startS = checkout.clock.nowMs() / 1_000;
});

describe('a checkout', () => {
  it('makes an order and asks the provider for its page', async () => {
    const answer = await checkout.buy({ key: 'k' });
    expect(answer.status).toBe(201);
    const { order_id: orderId, session_id: sessionId, session_url: url } = answer.json();
    expect(orderId).toMatch(/^ord_[0-9a-f]{32}$/);
    expect(checkout.provider.requests).toEqual([
      {
        idempotencyKey: `tollgate-${orderId}`,
        orderId,
        tenantId: checkout.tenantId,
        planId: 'launch',
        productName: 'Tollgate Launch, one month',
        amountMinor: 1900,
        currency: 'USD',
        successUrl: 'https://shop.example/ok',
        cancelUrl: 'https://shop.example/no',
        expiresAt: startS + 36 * 60,
      },
    ]);
    expect(await checkout.orders()).toEqual([
      {
        order_id: orderId,
        tenant_id: checkout.tenantId,
        status: 'pending',
        plan_id: 'launch',
        plan_revision: 1,
        product_name: 'Tollgate Launch, one month',
        amount_minor: 1900,
        currency: 'USD',
        success_url: 'https://shop.example/ok',
        cancel_url: 'https://shop.example/no',
        provider: 'sandbox',
        session_id: sessionId,
        session_url: url,
        payment_id: null,
        expires_at: startS + 36 * 60,
        paid_at: null,
        refunded_amount_minor: 0,
        reversals: [],
        created_at: startS,
      },
    ]);
  });

  it('is audited', async () => {
    const { order_id: orderId } = (await checkout.buy({ key: 'k' })).json();
    const log = await checkout.call('GET', `/admin/v1/tenants/${checkout.tenantId}/audit-log`);
    expect(log.json().entries[0]).toMatchObject({
      actor: 'service',
      action: 'payment_order.create',
      resource_type: 'payment_order',
      resource_id: orderId,
      change: { plan_id: 'launch', plan_revision: 1 },
    });
  });

  it('gets the same response for the same key until its 36 minutes are over, to the second', async () => {
    const first = await checkout.buy({ key: 'k' });
    checkout.clock.advanceMs(36 * MINUTE_MS - 1);
    const again = await checkout.buy({ key: 'k' });
    expect([again.status, again.json()]).toEqual([201, first.json()]);
    expect((await checkout.orders())[0].status).toBe('pending');
    checkout.clock.advanceMs(1);
    expect((await checkout.orders())[0].status).toBe('pending');
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe('409 payment_checkout_expired');
    expect((await checkout.orders())[0].status).toBe('expired');
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe('409 payment_checkout_expired');
    const other = await checkout.buy({ key: 'k2' });
    expect(other.status).toBe(201);
    expect(other.json().order_id).not.toBe(first.json().order_id);
    expect(checkout.provider.requests.length).toBe(2);
  });

  it('lasts as long as the provider says its page does', async () => {
    checkout.provider.laterS = 7;
    await checkout.buy({ key: 'k' });
    expect((await checkout.orders())[0].expires_at).toBe(startS + 36 * 60 + 7);
    checkout.clock.advanceMs(36 * MINUTE_MS + 6_999);
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe(201);
    checkout.clock.advanceMs(1);
    expect(verdict(await checkout.buy({ key: 'other', planId: 'growth' }))).toBe(201);
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe('409 payment_checkout_expired');
  });

  it('of another plan waits until the active one is over', async () => {
    const { order_id } = (await checkout.buy({ key: 'k' })).json();
    const refusal = await checkout.buy({ key: 'g', planId: 'growth' });
    expect(verdict(refusal)).toBe('409 checkout_in_progress');
    expect(refusal.json()).toMatchObject({
      error: `A checkout of the subscription plan launch is in progress: ${order_id}. Finish it, or wait until it expires.`,
      details: [{ path: 'plan_id', order_id }],
    });
    checkout.clock.advanceMs(36 * MINUTE_MS - 1);
    expect(verdict(await checkout.buy({ key: 'g', planId: 'growth' }))).toBe('409 checkout_in_progress');
    checkout.clock.advanceMs(1);
    expect(verdict(await checkout.buy({ key: 'g', planId: 'growth' }))).toBe(201);
    expect((await checkout.orders()).map(({ status, plan_id }: Row) => [plan_id, status])).toEqual([
      ['growth', 'pending'],
      ['launch', 'expired'],
    ]);
  });

  it('says first that a key was used for another plan', async () => {
    await checkout.buy({ key: 'k' });
    expect(verdict(await checkout.buy({ key: 'k', planId: 'growth' }))).toBe('409 idempotency_key_conflict');
    checkout.clock.advanceMs(36 * MINUTE_MS);
    expect(verdict(await checkout.buy({ key: 'k', planId: 'growth' }))).toBe('409 idempotency_key_conflict');
  });

  it('of the same plan is the same for another key, which is bound to it from then on', async () => {
    const first = await checkout.buy({ key: 'k' });
    const second = await checkout.buy({ key: 'k2' });
    expect([second.status, second.json()]).toEqual([201, first.json()]);
    expect(verdict(await checkout.buy({ key: 'k2', planId: 'growth' }))).toBe('409 idempotency_key_conflict');
    await checkout.deliver(await checkout.paid(first.json().order_id));
    // Repeating a request whose order was paid buys nothing twice.
    for (const key of ['k', 'k2']) expect((await checkout.buy({ key })).json()).toEqual(first.json());
    expect((await checkout.buy({ key: 'k3' })).json().order_id).not.toBe(first.json().order_id);
  });

  it('has keys of its tenant', async () => {
    const tenantId = await checkout.makeTenant();
    const mine = await checkout.buy({ key: 'k' });
    const theirs = await checkout.buy({ key: 'k', tenantId, planId: 'growth' });
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect((await checkout.orders()).length).toBe(1);
    const [order] = await checkout.orders(tenantId);
    const foreign = `/admin/v1/tenants/${checkout.tenantId}/payments/orders/${order.order_id}`;
    expect((await checkout.call('GET', foreign)).status).toBe(404);
  });

  it('costs what it did when it was ordered, whatever the catalog and the settings say later', async () => {
    checkout.provider.failOnce('before');
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe('502 payment_provider_failed');
    checkout.urls.success = 'https://elsewhere.example/ok';
    await checkout.rows(`insert into catalog_plans select id, 2, 'Lunch', 2900, currency, period, monthly_event_limit,
      retention_days, max_development_projects, max_release_projects, max_subject_routes, max_usage_controls,
      requires_release_project_usage_storage, release_project_usage_storage_dynamic_partition_start,
      release_project_usage_storage_dynamic_partition_end, release_project_usage_storage_create_history_partition,
      features, created_at from catalog_plans where id = 'launch'`);
    checkout.clock.advanceMs(4 * MINUTE_MS);
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe(201);
    const [first, second] = checkout.provider.requests;
    expect(second).toEqual(first);
    checkout.clock.advanceMs(36 * MINUTE_MS);
    await checkout.buy({ key: 'k2' });
    expect(checkout.provider.requests[2]).toMatchObject({
      amountMinor: 2900,
      productName: 'Tollgate Lunch, one month',
      successUrl: 'https://elsewhere.example/ok',
    });
  });
});

describe('an order of a provider that is not in use any more', () => {
  it('is over at once', async () => {
    const { order_id: orderId } = (await checkout.buy({ key: 'k' })).json();
    await checkout.rows(`begin; alter table payment_orders disable trigger user;
      update payment_orders set provider = 'stripe' where id = '${orderId}';
      alter table payment_orders enable trigger user; commit`);
    expect(verdict(await checkout.buy({ key: 'g', planId: 'growth' }))).toBe(201);
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe('409 payment_checkout_expired');
  });
});

describe('an order without a page', () => {
  it('is retried with its key for five minutes, and stands in the way of other plans as long', async () => {
    checkout.provider.failOnce('before');
    const failed = await checkout.buy({ key: 'k' });
    expect(verdict(failed)).toBe('502 payment_provider_failed');
    const [{ order_id: orderId, session_id: sessionId }] = await checkout.orders();
    expect(sessionId).toBeNull();
    checkout.clock.advanceMs(5 * MINUTE_MS - 1);
    expect(verdict(await checkout.buy({ key: 'g', planId: 'growth' }))).toBe('409 checkout_in_progress');
    const retried = await checkout.buy({ key: 'k' });
    expect([retried.status, retried.json().order_id]).toEqual([201, orderId]);
    expect(checkout.provider.requests[1]?.expiresAt).toBe(startS + 36 * 60);
  });

  it('is abandoned after five minutes: its key has expired, others start over', async () => {
    checkout.provider.failOnce('before');
    await checkout.buy({ key: 'k' });
    checkout.clock.advanceMs(5 * MINUTE_MS);
    expect(verdict(await checkout.buy({ key: 'k' }))).toBe('409 payment_checkout_expired');
    expect(verdict(await checkout.buy({ key: 'g', planId: 'growth' }))).toBe(201);
    expect(checkout.provider.requests.length).toBe(2);
  });

  it.each(['before', 'after'] as const)(
    'is healed by a retry after a crash %s the provider acted',
    async (when) => {
      checkout.provider.failOnce(when, new Error('killed'));
      expect((await checkout.buy({ key: 'k' })).status).toBe(500);
      expect((await checkout.orders()).map(({ session_id }: Row) => session_id)).toEqual([null]);
      const retried = await checkout.buy({ key: 'k' });
      expect(retried.status).toBe(201);
      expect(checkout.provider.sessions.size).toBe(1);
      expect(await checkout.orders()).toEqual([expect.objectContaining(retried.json())]);
    },
  );

  it('has the page that another process got for it, when this one gets none', async () => {
    checkout.provider.before = async () => {
      await checkout.rows(`update payment_orders set session_id = 'cs_1', session_url = 'https://pay.example/1',
        session_expires_at = expires_at where tenant_id = '${checkout.tenantId}'`);
      throw new PaymentProviderError('no luck here');
    };
    const answer = await checkout.buy({ key: 'k' });
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({ session_id: 'cs_1', session_url: 'https://pay.example/1' });
  });

  it('gets no page from an answer that comes after it was found abandoned', async () => {
    let release = (): void => {};
    const asked = new Promise<void>((resolve) => {
      checkout.provider.before = () => {
        resolve();
        return new Promise((go) => {
          release = go;
        });
      };
    });
    const slow = checkout.buy({ key: 'k' });
    await asked;
    checkout.provider.before = async () => {};
    checkout.clock.advanceMs(5 * MINUTE_MS);
    const other = await checkout.buy({ key: 'g', planId: 'growth' });
    expect(other.status).toBe(201);
    release();
    expect(verdict(await slow)).toBe('409 payment_checkout_expired');
    expect((await checkout.orders()).map(({ status, session_id }: Row) => [status, session_id])).toEqual([
      ['pending', other.json().session_id],
      ['expired', null],
    ]);
  });
});

describe('checkouts at once', () => {
  it('with one key are one order and one page, a hundred times', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => checkout.buy({ key: 'k' })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(checkout.provider.sessions.size).toBe(1);
    expect((await checkout.orders()).length).toBe(1);
  });

  it('with many keys for two plans leave one active', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        checkout.buy({ key: `k${at}`, planId: at % 2 === 0 ? 'launch' : 'scale' }),
      ),
    );
    const bought = answers.filter(({ status }) => status === 201);
    expect(bought.length).toBe(20);
    expect(new Set(bought.map(({ text }) => text)).size).toBe(1);
    expect(new Set(answers.filter(({ status }) => status !== 201).map(verdict))).toEqual(
      new Set(['409 checkout_in_progress']),
    );
    expect((await checkout.orders()).length).toBe(1);
  });
});

type Row = Readonly<Record<string, unknown>>;
