import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { registerSandboxApiRoutes } from './api-routes.js';
import { sandboxHttpClient } from './http-client.js';
import { SandboxSessions } from './sessions.js';
import { STRIPE_API_VERSION } from './stripe-objects.js';

const API_KEY = 'sk_test_sandbox';

let api: TestApi;
let url: string;
let keys = 0;
let key: string;

beforeAll(async () => {
  api = await createTestApi((app, { postgres, clock }) => {
    const sessions = new SandboxSessions({ postgres, clock, onEvent: () => {} });
    const pageUrl = (id: string) => `https://pay.example/${id}`;
    registerSandboxApiRoutes(app, { sessions, clock, apiKey: API_KEY, pageUrl });
  });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  key = `key-${++keys}`;
});
afterAll(() => api.close());

const client = (apiKey = API_KEY) =>
  new Stripe(apiKey, {
    httpClient: sandboxHttpClient(() => url)(Stripe),
    maxNetworkRetries: 0,
    telemetry: false,
  });

const params = (): Stripe.Checkout.SessionCreateParams => ({
  mode: 'payment',
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: 1900, product_data: { name: 'Plan “A” & <b>' } },
    },
  ],
  payment_intent_data: { metadata: { order_id: 'ord_1' } },
  success_url: 'https://shop.example/ok?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'https://shop.example/no',
  expires_at: TEST_NOW_S + 1_800,
});

const create = (changes: object = {}, idempotencyKey = key) =>
  client().checkout.sessions.create({ ...params(), ...changes }, { idempotencyKey });

/** Returns the error that the library makes of a refusal. */
async function refusal(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Stripe.errors.StripeError);
  const { type, code, param, statusCode } = error as Stripe.errors.StripeError;
  return { type, code, param, statusCode };
}

describe("the sandbox, by Stripe's own library", () => {
  it('is of the same version', () => {
    expect(STRIPE_API_VERSION).toBe(Stripe.API_VERSION);
  });

  it('opens sessions and shows them', async () => {
    const session = await create();
    expect(session).toMatchObject({
      object: 'checkout.session',
      mode: 'payment',
      amount_total: 1900,
      currency: 'usd',
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      expires_at: TEST_NOW_S + 1_800,
      url: `https://pay.example/${session.id}`,
      livemode: false,
    });
    expect(await client().checkout.sessions.retrieve(session.id)).toEqual(session);
  });

  it('returns the same session for a repeated request, also at once, also later', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    // Later, when such a session could not be opened any more, and also after it has ended.
    for (const ms of [60_000, 1_800_000]) {
      api.clock.advanceMs(ms);
      expect(await create()).toEqual(answers[0]);
    }
    expect(await client().checkout.sessions.retrieve(answers[0]?.id ?? '')).toMatchObject({
      status: 'expired',
      url: null,
    });
    api.clock.advanceMs(-1_860_000);
  });

  it('refuses a key for another request', async () => {
    await create();
    expect(await refusal(create({ cancel_url: 'https://shop.example/other' }))).toMatchObject({
      type: 'StripeIdempotencyError',
      statusCode: 400,
    });
  });

  it.each<[string, object, object]>([
    ['too early an end', { expires_at: TEST_NOW_S + 1_799 }, { param: 'expires_at' }],
    ['too late an end', { expires_at: TEST_NOW_S + 86_401 }, { param: 'expires_at' }],
    ['another mode', { mode: 'subscription' }, { param: 'mode' }],
    ['no item', { line_items: [] }, { code: 'parameter_missing' }],
    ['an unknown parameter', { coupon: 'x' }, { code: 'parameter_unknown', param: 'coupon' }],
    ['a success URL that is none', { success_url: '/ok' }, { param: 'success_url' }],
    ['a script as a URL', { cancel_url: 'javascript:alert(1)' }, { param: 'cancel_url' }],
  ])('refuses %s as Stripe does', async (_what, changes, error) => {
    expect(await refusal(create(changes))).toMatchObject({
      type: 'StripeInvalidRequestError',
      statusCode: 400,
      ...error,
    });
  });

  it.each([{ unit_amount: 0 }, { unit_amount: -1 }, { currency: 'USD' }, { currency: 'dollars' }])(
    'refuses a price with %j',
    async (changes) => {
      const price_data = { currency: 'usd', unit_amount: 1900, product_data: { name: 'x' }, ...changes };
      const items = { line_items: [{ quantity: 1, price_data }] };
      expect(await refusal(create(items))).toMatchObject({ type: 'StripeInvalidRequestError' });
    },
  );

  it('is opened by its key alone', async () => {
    const { id } = await create();
    for (const apiKey of ['sk_test_other', api.serviceKey, `${API_KEY}x`]) {
      const sessions = client(apiKey).checkout.sessions;
      expect(await refusal(sessions.retrieve(id))).toMatchObject({ type: 'StripeAuthenticationError' });
      expect(await refusal(sessions.create(params()))).toMatchObject({ statusCode: 401 });
    }
    expect((await fetch(`${url}/sandbox/v1/checkout/sessions/${id}`)).status).toBe(401);
  });

  it('does not know what nobody opened', async () => {
    expect(await refusal(client().checkout.sessions.retrieve('cs_test_x'))).toMatchObject({
      code: 'resource_missing',
      statusCode: 404,
    });
  });

  it.each([
    ['JSON', 'application/json', '{"mode":"payment"}'],
    ['a parameter twice', 'application/x-www-form-urlencoded', 'mode=payment&mode=payment'],
    ['too much', 'application/x-www-form-urlencoded', `mode=${'x'.repeat(70_000)}`],
    ['NUL', 'application/x-www-form-urlencoded', 'mode=payment&line_items[0][quantity]=1&success_url=%00'],
  ])('refuses %s', async (_what, type, body) => {
    const answer = await fetch(`${url}/sandbox/v1/checkout/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': type },
      body,
    });
    expect(Math.floor(answer.status / 100)).toBe(4);
  });
});
