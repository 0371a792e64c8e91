import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestCheckout, type TestCheckout } from './checkout.testing.js';

/** Events of a payment provider, recorded elsewhere; these tests are skipped where the file does not exist. */
const SHAPES = new URL('../../../../../../shared/vectors/stripe-events.json', import.meta.url);

interface ShapedEvent {
  readonly type: string;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
}

let checkout: TestCheckout;

beforeAll(async () => {
  checkout = await createTestCheckout();
});
beforeEach(() => checkout.anew());
afterAll(() => checkout.close());

async function newPayment() {
  const orderId = (await checkout.buy({ key: 'k' })).json().order_id;
  const event = await checkout.paid(orderId);
  return { orderId, event, object: event.data.object as Readonly<Record<string, unknown>> };
}

async function expectMismatch(event: object): Promise<void> {
  const { status, json } = await checkout.deliver(event);
  expect([status, json().code]).toEqual([400, 'payment_mismatch']);
}

async function expectReceived(event: object): Promise<void> {
  const { status, json } = await checkout.deliver(event);
  expect([status, json()]).toEqual([200, { received: true }]);
}

/** Delivers an event that must change nothing, while an order waits for its payment. */
async function expectNoChange(event: object, deliver = expectReceived): Promise<void> {
  const state = async () => [
    await checkout.orders(),
    await checkout.rows(`select * from entitlement_grants where tenant_id = '${checkout.tenantId}'`),
  ];
  const before = await state();
  await deliver(event);
  expect(await state()).toEqual(before);
}

describe('a payment of another product', () => {
  it.each([
    ['without metadata', null],
    ['with metadata of its own', { invoice: 'in_1', customer: 'acme' }],
    ['with empty metadata', {}],
  ])('is refused, and changes nothing: %s', async (_what, metadata) => {
    const { event, object } = await newPayment();
    await expectNoChange({ ...event, data: { object: { ...object, metadata } } }, expectMismatch);
    expect(checkout.quota.tried).toEqual([]);
  });
});

describe.runIf(existsSync(SHAPES))('events in three versions of the API', () => {
  const { cases } = existsSync(SHAPES)
    ? (JSON.parse(readFileSync(SHAPES, 'utf8')) as { cases: { o: string; event: ShapedEvent }[] })
    : { cases: [] };
  const named = cases.map(({ o, event }) => [o, event] as const);

  it.each(named)('of other payments change nothing: %s', async (_name, event) => {
    await newPayment();
    await expectNoChange(event, event.type === 'payment_intent.succeeded' ? expectMismatch : expectReceived);
  });

  it.each(named.filter(([, { type }]) => type === 'payment_intent.succeeded'))(
    'pay an order of ours: %s',
    async (_name, event) => {
      const { orderId, object } = await newPayment();
      const { id, amount, amount_received, currency, metadata } = object;
      const ours = { id, amount, amount_received, currency, metadata };
      await expectReceived({ ...event, data: { object: { ...event.data.object, ...ours } } });
      expect(await checkout.orders()).toMatchObject([{ order_id: orderId, status: 'paid' }]);
    },
  );
});
