import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/id.js';
import {
  createTestCheckout,
  OLD_SECRET,
  paymentEvent,
  SECRET,
  type TestCheckout,
} from './checkout.testing.js';
import { signatureHeader } from './signature.js';

const MINUTE_MS = 60_000;

let checkout: TestCheckout;

beforeAll(async () => {
  checkout = await createTestCheckout();
});
beforeEach(() => checkout.anew());
afterAll(() => checkout.close());

const nowS = () => Math.floor(checkout.clock.nowMs() / 1_000);
const verdict = ({ status, json }: Awaited<ReturnType<TestCheckout['deliver']>>) =>
  status === 200 ? JSON.stringify(json()) : `${status} ${json().code}`;
const received = '{"received":true}';

async function newOrder(planId = 'launch', key = 'k'): Promise<string> {
  return (await checkout.buy({ key, planId })).json().order_id;
}

/** Returns everything that a payment may change. */
async function state() {
  const own = `tenant_id = '${checkout.tenantId}'`;
  return {
    orders: await checkout.rows(`select * from payment_orders where ${own} order by id`),
    grants: await checkout.rows(`select * from entitlement_grants where ${own} order by created_at, id`),
    audit: await checkout.rows(`select * from audit_log where ${own} and action = 'payment_order.pay'`),
  };
}

describe('a payment', () => {
  it('as Stripe documents it settles its order, grants the plan and sets up the quota', async () => {
    const orderId = await newOrder('growth');
    checkout.clock.advanceMs(90_000);
    const event = await checkout.paid(orderId);
    expect(verdict(await checkout.deliver(event))).toBe(received);
    const { id: paymentId } = event.data.object;
    const url = `/admin/v1/tenants/${checkout.tenantId}/payments/orders/${orderId}`;
    expect((await checkout.call('GET', url)).json()).toMatchObject({
      status: 'paid',
      payment_id: paymentId,
      paid_at: nowS(),
    });
    const { grants, audit } = await state();
    expect(grants).toMatchObject([
      {
        tenant_id: checkout.tenantId,
        plan_id: 'growth',
        revision: 1,
        source: `sandbox:${paymentId}`,
        starts_at: nowS(),
      },
    ]);
    expect(grants[0]?.plan).toMatchObject({ id: 'growth', monthly_event_limit: 20_000_000 });
    expect(audit.length).toBe(1);
    expect(checkout.quota.tried).toEqual([checkout.tenantId]);
  });

  it('is kept by its id alone: nothing else of the event is stored', async () => {
    const event = await checkout.paid(await newOrder(), { receipt_email: 'secret.buyer@example.com' });
    await checkout.deliver(event);
    const tables = await checkout.rows(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const text = JSON.stringify(await checkout.rows(`select * from "${name}"`));
      expect(text).not.toMatch(/secret\.buyer|client_secret|req_8cBoEOJcqOQxlS/);
      expect(text.includes(event.id)).toBe(false);
    }
  });

  it('settles once, however often it is notified', async () => {
    const event = await checkout.paid(await newOrder());
    await checkout.deliver(event);
    const once = await state();
    checkout.clock.advanceMs(MINUTE_MS);
    expect(verdict(await checkout.deliver(event))).toBe(received);
    const answers = await Promise.all(Array.from({ length: 10 }, () => checkout.deliver(event)));
    expect(new Set(answers.map(verdict))).toEqual(new Set([received]));
    expect(await state()).toEqual(once);
    expect(checkout.quota.tried.length).toBe(12);
  });

  it('that comes after its order has expired is granted all the same', async () => {
    const orderId = await newOrder();
    checkout.clock.advanceMs(36 * MINUTE_MS);
    const other = await newOrder('growth', 'k2');
    expect((await state()).orders.map(({ status }) => status).sort()).toEqual(['expired', 'pending']);
    expect(verdict(await checkout.deliver(await checkout.paid(orderId)))).toBe(received);
    const { orders, grants } = await state();
    expect(orders.map(({ id, status }) => [id, status])).toEqual([
      [orderId, 'paid'],
      [other, 'pending'],
    ]);
    expect(grants.length).toBe(1);
  });

  it('settles an order whose page was not written down yet', async () => {
    checkout.provider.failOnce('after', new Error('killed'));
    await checkout.buy({ key: 'k' });
    const [order] = (await state()).orders;
    expect(order).toMatchObject({ status: 'pending', session_id: null });
    expect(verdict(await checkout.deliver(await checkout.paid(String(order?.id))))).toBe(received);
    const again = await checkout.buy({ key: 'k' });
    expect([again.status, again.json().order_id]).toEqual([201, order?.id]);
    expect((await state()).grants.length).toBe(1);
  });

  it('settles an order whose page was never written down, which has no page any more then', async () => {
    checkout.provider.failOnce('after', new Error('killed'));
    await checkout.buy({ key: 'k' });
    const [order] = (await state()).orders;
    checkout.clock.advanceMs(5 * MINUTE_MS);
    expect(verdict(await checkout.deliver(await checkout.paid(String(order?.id))))).toBe(received);
    const again = await checkout.buy({ key: 'k' });
    expect([again.status, again.json().code]).toEqual([409, 'payment_checkout_expired']);
    expect(checkout.provider.requests.length).toBe(1);
    expect((await state()).grants.length).toBe(1);
  });

  it('of an order that was only just made, and is not there, is to be delivered again', async () => {
    const metadata = {
      tenant_id: checkout.tenantId,
      plan_id: 'launch',
      order_id: newId('ord', checkout.clock),
    };
    const event = paymentEvent({ amount: 1900, amount_received: 1900, currency: 'usd', metadata });
    const early = await checkout.deliver(event);
    expect([verdict(early), early.headers['retry-after']]).toEqual(['503 payment_order_not_ready', '1']);
    checkout.clock.advanceMs(5 * MINUTE_MS);
    expect(verdict(await checkout.deliver(event))).toBe('400 payment_mismatch');
  });

  it('whose quota cannot be set up is granted, and notified again until it can', async () => {
    checkout.quota.failures = 2;
    const event = await checkout.paid(await newOrder());
    expect(verdict(await checkout.deliver(event))).toBe('503 quota_initialization_failed');
    const granted = await state();
    expect(granted.grants.length).toBe(1);
    expect(verdict(await checkout.deliver(event))).toBe('503 quota_initialization_failed');
    expect(verdict(await checkout.deliver(event))).toBe(received);
    expect(await state()).toEqual(granted);
  });

  it('changes nothing when any part of its settlement fails', async () => {
    const event = await checkout.paid(await newOrder());
    await checkout.rows(
      `alter table entitlement_grants add constraint failpoint check (tenant_id <> '${checkout.tenantId}')`,
    );
    const before = await state();
    expect((await checkout.deliver(event)).status).toBe(500);
    expect(await state()).toEqual(before);
    await checkout.rows('alter table entitlement_grants drop constraint failpoint');
    expect(verdict(await checkout.deliver(event))).toBe(received);
    expect((await state()).grants.length).toBe(1);
  });
});

describe('a payment that is not that of an order', () => {
  const metadataOf = (event: Awaited<ReturnType<TestCheckout['paid']>>) =>
    (event.data.object as unknown as { metadata: object }).metadata;

  it.each<[string, object | ((metadata: object) => object)]>([
    ['less', { amount: 1899, amount_received: 1899 }],
    ['more', { amount: 1901, amount_received: 1901 }],
    ['received in part', { amount_received: 1000 }],
    ['an amount as text', { amount: '1900', amount_received: '1900' }],
    ['a fraction', { amount: 1900.5, amount_received: 1900.5 }],
    ['no amount', { amount: null, amount_received: null }],
    ['another currency', { currency: 'eur' }],
    ['no currency', { currency: null }],
    ['not succeeded', { status: 'processing' }],
    ['no status', { status: undefined }],
    ['another object', { object: 'charge' }],
    ['no id', { id: undefined }],
    ['an endless id', { id: `pi_${'x'.repeat(300)}` }],
    ['no order', (metadata) => ({ ...metadata, order_id: undefined })],
    ['an unknown order', (metadata) => ({ ...metadata, order_id: 'ord_unknown' })],
    ['an order that is no text', (metadata) => ({ ...metadata, order_id: { $ne: null } })],
    ['an order with NUL', (metadata) => ({ ...metadata, order_id: 'ord_\0' })],
    ['another plan', (metadata) => ({ ...metadata, plan_id: 'growth' })],
    ['no plan', (metadata) => ({ ...metadata, plan_id: undefined })],
    ['no tenant', (metadata) => ({ ...metadata, tenant_id: undefined })],
    ['another tenant', (metadata) => ({ ...metadata, tenant_id: 'ten_another' })],
  ])('is refused and changes nothing: %s', async (_what, difference) => {
    const right = await checkout.paid(await newOrder());
    const wrong = typeof difference === 'function' ? { metadata: difference(metadataOf(right)) } : difference;
    Object.assign(right.data.object, wrong);
    const before = await state();
    const verdictOfIt = verdict(await checkout.deliver(right));
    expect(verdictOfIt).toBe('400 payment_mismatch');
    expect(await state()).toEqual(before);
  });

  it('is refused: with another provider', async () => {
    const orderId = await newOrder();
    await checkout.rows(
      `alter table payment_orders disable trigger all; update payment_orders set provider = 'stripe'`,
    );
    expect(verdict(await checkout.deliver(await checkout.paid(orderId)))).toBe('400 payment_mismatch');
  });

  it('is named in the log, with its order: it may have to be given back', async () => {
    const event = await checkout.paid(await newOrder(), { amount: 1, amount_received: 1 });
    await checkout.deliver(event);
    const { order_id: orderId } = metadataOf(event) as { order_id: string };
    expect(checkout.warnings.at(-1)).toEqual({
      requestId: expect.any(String),
      reason: 'it is of another amount',
      paymentId: event.data.object.id,
      orderId,
    });
  });

  it('is refused: a second one for an order, and one that has paid another', async () => {
    const first = await checkout.paid(await newOrder());
    await checkout.deliver(first);
    const before = await state();
    Object.assign(first.data.object, { id: 'pi_another' });
    expect(verdict(await checkout.deliver(first))).toBe('400 payment_mismatch');
    expect(await state()).toEqual(before);
    const second = await newOrder('growth', 'k2');
    const [{ payment_id: used } = {}] = before.orders;
    const event = await checkout.paid(second, { id: used });
    expect(verdict(await checkout.deliver(event))).toBe('400 payment_mismatch');
    expect((await state()).grants).toEqual(before.grants);
  });
});

describe('the webhook', () => {
  it('receives and ignores other events', async () => {
    const event = await checkout.paid(await newOrder());
    const before = await state();
    for (const type of [
      'payment_intent.payment_failed',
      'checkout.session.completed',
      'charge.succeeded',
      'x',
    ]) {
      expect(verdict(await checkout.deliver({ ...event, type }))).toBe(received);
    }
    for (const odd of [{}, [], { type: 1 }]) expect(verdict(await checkout.deliver(odd))).toBe(received);
    expect(await state()).toEqual(before);
    expect(checkout.quota.tried).toEqual([]);
  });

  it('takes either header, and either secret', async () => {
    const text = JSON.stringify(await checkout.paid(await newOrder()));
    const by = (name: string, secret: string) =>
      checkout.deliver(text, { [name]: signatureHeader(Buffer.from(text), secret, nowS()) });
    expect(verdict(await by('payment-signature', SECRET))).toBe(received);
    expect(verdict(await by('stripe-signature', SECRET))).toBe(received);
    expect(verdict(await by('stripe-signature', OLD_SECRET))).toBe(received);
    expect(verdict(await by('x-signature', SECRET))).toBe('400 invalid_signature');
    expect(verdict(await by('stripe-signature', 'whsec_unknown'))).toBe('400 invalid_signature');
  });

  it('looks at the signature before it reads anything', async () => {
    const text = JSON.stringify(await checkout.paid(await newOrder()));
    const signature = signatureHeader(Buffer.from(text), SECRET, nowS());
    const tampered = [text.replace('1900', '0001'), `${text} `, `${text}}`, '', '{', text.slice(1)];
    for (const body of tampered) {
      const answer = await checkout.deliver(body, { 'payment-signature': signature });
      expect([body.length, verdict(answer)]).toEqual([body.length, '400 invalid_signature']);
    }
    expect(verdict(await checkout.deliver('not JSON'))).toBe('400 invalid_json');
    expect(verdict(await checkout.deliver('['.repeat(100_000)))).toBe('400 invalid_json');
    expect(verdict(await checkout.deliver('x'.repeat(300_000)))).toBe('413 payload_too_large');
  });

  it('takes 299 seconds of skew, not 301', async () => {
    const text = JSON.stringify(await checkout.paid(await newOrder()));
    const at = async (skewS: number) => {
      const header = signatureHeader(Buffer.from(text), SECRET, nowS() + skewS);
      return verdict(await checkout.deliver(text, { 'payment-signature': header }));
    };
    expect([await at(-301), await at(301)]).toEqual(['400 invalid_signature', '400 invalid_signature']);
    expect([await at(-299), await at(299)]).toEqual([received, received]);
  });
});
