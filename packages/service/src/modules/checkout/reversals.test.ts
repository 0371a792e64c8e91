import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestCheckout, paymentEvent, type TestCheckout } from './checkout.testing.js';
import { recountPurchases } from './purchase-recount-store.js';

const PRICE = 1_900;
const received = '{"received":true}';

let recording: TestCheckout;
let ending: TestCheckout;
let checkout: TestCheckout;

beforeAll(async () => {
  [recording, ending] = await Promise.all([
    createTestCheckout(),
    createTestCheckout({ refundEndsPlan: true }),
  ]);
});
beforeEach(async () => {
  checkout = recording;
  await Promise.all([recording.anew(), ending.anew()]);
});
afterAll(() => Promise.all([recording.close(), ending.close()]));

const nowS = () => Math.floor(checkout.clock.nowMs() / 1_000);
const deliver = async (event: object) => {
  const { status, json } = await checkout.deliver(event);
  return status === 200 ? JSON.stringify(json()) : `${status} ${json().code}`;
};

interface Paid {
  readonly orderId: string;
  readonly paymentId: string;
  readonly metadata: object;
  readonly event: object;
}

/** Creates an order and the event that pays it, which is not delivered yet. */
async function newPayment(planId = 'launch', key = 'k'): Promise<Paid> {
  const orderId = (await checkout.buy({ key, planId })).json().order_id;
  const event = await checkout.paid(orderId);
  const { id: paymentId, metadata } = event.data.object as unknown as { id: string; metadata: object };
  return { orderId, paymentId, metadata, event };
}

async function pay(planId = 'launch', key = 'k'): Promise<Paid> {
  const payment = await newPayment(planId, key);
  expect(await deliver(payment.event)).toBe(received);
  return payment;
}

/** Returns `charge.refunded` with the total refunds so far. */
function refund({ paymentId, metadata }: Paid, amountMinor: number, changes: object = {}) {
  const object = {
    id: `ch_${paymentId}`,
    object: 'charge',
    amount: PRICE,
    amount_refunded: amountMinor,
    currency: 'usd',
    metadata,
    payment_intent: paymentId,
    refunded: amountMinor === PRICE,
    ...changes,
  };
  return { ...paymentEvent(), type: 'charge.refunded', data: { object } };
}

function dispute({ paymentId }: Paid, changes: object = {}) {
  const object = {
    id: `dp_${paymentId}`,
    object: 'dispute',
    amount: PRICE,
    charge: `ch_${paymentId}`,
    currency: 'usd',
    metadata: {},
    payment_intent: paymentId,
    reason: 'fraudulent',
    status: 'needs_response',
    ...changes,
  };
  return { ...paymentEvent(), type: 'charge.dispute.created', data: { object } };
}

const rows = (table: string) =>
  checkout.rows(`select * from ${table} where tenant_id = '${checkout.tenantId}'`);
const messages = async () =>
  (
    await checkout.rows(`select type, payload from webhook_messages where tenant_id = '${checkout.tenantId}'
    order by created_at_ms, id`)
  ).map(({ type, payload }) => [type, JSON.parse(payload as string).data]);
const actions = async () =>
  (await rows('audit_log'))
    .map(({ action }) => action)
    .filter((action) => /refund|dispute/.test(String(action)));
const order = async ({ orderId }: Paid) =>
  (await checkout.orders()).find(({ order_id }: { order_id: string }) => order_id === orderId);
const grants = async () =>
  (await rows('entitlement_grants')).map(({ plan_id, ended_at }) => [plan_id, ended_at]);
const recount = () => recountPurchases(checkout.postgres, 10);

describe('a refund', () => {
  it('is recorded on its order as far as it goes, and leaves the plan', async () => {
    const payment = await pay();
    expect(await order(payment)).toMatchObject({ refunded_amount_minor: 0, reversals: [] });
    for (const amount of [500, 500, 1_200, 700, PRICE]) {
      checkout.clock.advanceMs(1_000);
      expect(await deliver(refund(payment, amount))).toBe(received);
    }
    expect(await order(payment)).toMatchObject({
      status: 'paid',
      refunded_amount_minor: PRICE,
      reversals: [
        {
          kind: 'refund',
          reference: `ch_${payment.paymentId}`,
          amount_minor: PRICE,
          currency: 'USD',
          reason: null,
          recorded_at: nowS(),
        },
      ],
    });
    expect(await actions()).toEqual(Array(3).fill('payment_order.refund'));
    expect(await grants()).toEqual([['launch', null]]);
  });

  it('is written to the log for the operator', async () => {
    const payment = await pay();
    await deliver(refund(payment, 500));
    expect(checkout.warnings.at(-1)).toMatchObject({
      tenantId: checkout.tenantId,
      order_id: payment.orderId,
      payment_id: payment.paymentId,
      amount_minor: 500,
      order_amount_minor: PRICE,
      ends_plan: false,
    });
  });

  it.each<[string, (payment: Paid) => object]>([
    ['more than was paid', (payment) => refund(payment, PRICE + 1)],
    ['another currency', (payment) => refund(payment, 500, { currency: 'eur' })],
    [
      'of an order that another payment has paid',
      (payment) => refund({ ...payment, paymentId: 'pi_other' }, 500),
    ],
    [
      'of an order that is not there',
      (payment) =>
        refund(
          { ...payment, paymentId: 'pi_other', metadata: { ...payment.metadata, order_id: 'ord_x' } },
          500,
        ),
    ],
    [
      "of an order of another tenant's",
      (payment) =>
        refund(
          { ...payment, paymentId: 'pi_other', metadata: { ...payment.metadata, tenant_id: 'ten_x' } },
          500,
        ),
    ],
  ])('is refused and changes nothing: %s', async (_what, event) => {
    const payment = await pay();
    const before = [await order(payment), await grants(), await actions()];
    expect(await deliver(event(payment))).toBe('400 payment_mismatch');
    expect([await order(payment), await grants(), await actions()]).toEqual(before);
  });

  it.each<[string, object]>([
    ['without a payment', { payment_intent: null }],
    ['of nothing', { amount_refunded: 0 }],
    ['of a fraction', { amount_refunded: 0.5 }],
    ['of another product', { payment_intent: 'pi_of_another_product', metadata: {} }],
  ])('is received and ignored: %s', async (_what, changes) => {
    const payment = await pay();
    expect(await deliver(refund(payment, 500, changes))).toBe(received);
    expect(await order(payment)).toMatchObject({ reversals: [] });
    expect(
      await checkout.rows(`select * from payment_reversals where payment_id = 'pi_of_another_product'`),
    ).toEqual([]);
  });
});

describe('a refund where it ends the plan', () => {
  beforeEach(() => {
    checkout = ending;
  });

  it('ends the plan once all was given back, at once and for good', async () => {
    const payment = await pay();
    checkout.clock.advanceMs(5_000);
    await deliver(refund(payment, PRICE - 1));
    expect(await grants()).toEqual([['launch', null]]);
    Object.assign(checkout.quota, { failures: 1, tried: [] });
    // The repeated delivery applies the end of the plan, which the first one had stored but could not apply.
    expect(await deliver(refund(payment, PRICE))).toBe('503 quota_initialization_failed');
    expect(await deliver(refund(payment, PRICE))).toBe(received);
    expect(checkout.quota.tried).toEqual([checkout.tenantId, checkout.tenantId]);
    expect(await grants()).toEqual([['launch', nowS()]]);
    const endedAt = nowS();
    checkout.clock.advanceMs(5_000);
    for (const event of [refund(payment, PRICE), dispute(payment), payment.event]) {
      expect(await deliver(event)).toBe(received);
    }
    expect(await grants()).toEqual([['launch', endedAt]]);
    expect(await recount()).toMatchObject({ difference_count: 0 });
  });

  it('before its payment is reported records the purchase and replaces no plan', async () => {
    await pay('growth', 'k1');
    const payment = await newPayment('launch', 'k2');
    expect(await deliver(refund(payment, PRICE))).toBe(received);
    expect(await order(payment)).toMatchObject({ status: 'pending' });
    expect(await deliver(payment.event)).toBe(received);
    expect(await order(payment)).toMatchObject({ status: 'paid', refunded_amount_minor: PRICE });
    expect(await grants()).toEqual([
      ['growth', null],
      ['launch', nowS()],
    ]);
    expect(await recount()).toMatchObject({ difference_count: 0 });
  });

  it('of a month to come ends that month alone', async () => {
    await pay('launch', 'k1');
    const second = await pay('launch', 'k2');
    await deliver(refund(second, PRICE));
    expect(await grants()).toEqual([
      ['launch', null],
      ['launch', nowS()],
    ]);
  });
});

describe('a dispute', () => {
  it('is recorded with its reason, once, and leaves the plan', async () => {
    const payment = await pay();
    for (const times of [1, 2]) expect([times, await deliver(dispute(payment))]).toEqual([times, received]);
    expect(await order(payment)).toMatchObject({
      refunded_amount_minor: 0,
      reversals: [{ kind: 'dispute', amount_minor: PRICE, reason: 'fraudulent' }],
    });
    expect(await actions()).toEqual(['payment_order.dispute']);
    expect(await grants()).toEqual([['launch', null]]);
  });

  it('ends the plan where refunds do, also when it is reported before its payment', async () => {
    checkout = ending;
    const payment = await newPayment();
    expect(await deliver(dispute(payment, { payment_intent: { id: payment.paymentId } }))).toBe(received);
    expect(await actions()).toEqual([]);
    expect(await deliver(payment.event)).toBe(received);
    expect(await actions()).toEqual(['payment_order.dispute']);
    expect(await grants()).toEqual([['launch', nowS()]]);
    expect(await order(payment)).toMatchObject({ reversals: [{ kind: 'dispute' }] });
  });

  it('of a payment that we do not know is forgotten after a month', async () => {
    const unknown = { paymentId: 'pi_unknown_1', orderId: '', metadata: {}, event: {} };
    const known = await pay();
    await deliver(dispute(known));
    await deliver(dispute(unknown));
    checkout.clock.advanceMs(31 * 24 * 3_600_000);
    await deliver(dispute({ ...unknown, paymentId: 'pi_unknown_2' }));
    const kept = await checkout.rows(
      `select payment_id from payment_reversals where payment_id like 'pi_unknown%'`,
    );
    expect(kept).toEqual([{ payment_id: 'pi_unknown_2' }]);
    expect(await order(known)).toMatchObject({ reversals: [{ kind: 'dispute' }] });
  });
});

describe('reports about reversals', () => {
  it('go to every project of the tenant that listens, once for each change', async () => {
    const payment = await pay();
    const project = await checkout.makeProject(checkout.tenantId);
    const { status } = await checkout.call('POST', `/v1/projects/${project}/webhook-endpoints`, {
      url: 'https://hooks.example.com/x',
      event_types: ['*'],
    });
    expect(status).toBe(201);
    await checkout.makeProject(checkout.tenantId);
    for (const amount of [500, 500, PRICE]) await deliver(refund(payment, amount));
    await deliver(dispute(payment));
    const data = {
      order_id: payment.orderId,
      payment_id: payment.paymentId,
      currency: 'USD',
      ends_plan: false,
    };
    expect(await messages()).toMatchObject([
      ['payment.refunded', { ...data, amount_minor: 500, order_amount_minor: PRICE }],
      ['payment.refunded', { ...data, amount_minor: PRICE }],
      ['payment.disputed', { ...data, amount_minor: PRICE, reason: 'fraudulent' }],
    ]);
  });
});
