import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PaymentProviderError, type SessionRequest } from './provider.js';
import { createStripeProvider } from './stripe-provider.js';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly form: Readonly<Record<string, string>>;
}

const request: SessionRequest = {
  idempotencyKey: 'tollgate-ord_1',
  orderId: 'ord_1',
  tenantId: 'ten_1',
  planId: 'growth',
  productName: 'Tollgate Growth, one month',
  amountMinor: 19_900,
  currency: 'USD',
  successUrl: 'https://shop.example/ok?a=1&b=ä',
  cancelUrl: 'https://shop.example/no',
  expiresAt: 1_790_002_160,
};

const session = {
  id: 'cs_live_1',
  object: 'checkout.session',
  url: 'https://checkout.stripe.com/c/pay/cs_live_1',
  expires_at: 1_790_002_161,
  amount_total: 19_900,
  currency: 'usd',
};

let received: Received[];
let answer: (response: ServerResponse, attempt: number) => void;
const server = createServer(async (incoming, response) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
  const { method, url, headers } = incoming;
  received.push({ method, url, headers, form });
  answer(response, received.length);
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
beforeEach(() => {
  received = [];
  answer = (response) => respond(response, 200, session);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function respond(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** The provider as in production, apart from where it connects. */
function provider(sessionMsMax?: number) {
  const client = Stripe.createNodeHttpClient();
  const { port } = server.address() as AddressInfo;
  const httpClient: Stripe.HttpClient = {
    getClientName: () => client.getClientName(),
    makeRequest: (host, _port, path, method, headers, data, protocol, timeoutMs) => {
      expect([host, protocol]).toEqual(['api.stripe.com', 'https']);
      return client.makeRequest('127.0.0.1', String(port), path, method, headers, data, 'http', timeoutMs);
    },
  };
  const bound = sessionMsMax === undefined ? {} : { sessionMsMax };
  return createStripeProvider({
    name: 'stripe',
    apiKey: 'sk_live_1',
    httpClient: () => httpClient,
    ...bound,
  });
}

describe('the adapter for Stripe', () => {
  it('asks for one payment of exactly the order', async () => {
    const { id, url, expires_at: expiresAt } = session;
    expect(await provider().createSession(request)).toEqual({ id, url, expiresAt });
    expect(received).toMatchObject([
      {
        method: 'POST',
        url: '/v1/checkout/sessions',
        headers: {
          authorization: 'Bearer sk_live_1',
          'idempotency-key': 'tollgate-ord_1',
          'content-type': 'application/x-www-form-urlencoded',
        },
      },
    ]);
    expect(received[0]?.form).toEqual({
      mode: 'payment',
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '19900',
      'line_items[0][price_data][product_data][name]': 'Tollgate Growth, one month',
      client_reference_id: 'ord_1',
      'payment_intent_data[metadata][tenant_id]': 'ten_1',
      'payment_intent_data[metadata][plan_id]': 'growth',
      'payment_intent_data[metadata][order_id]': 'ord_1',
      'metadata[tenant_id]': 'ten_1',
      'metadata[plan_id]': 'growth',
      'metadata[order_id]': 'ord_1',
      'adaptive_pricing[enabled]': 'false',
      success_url: 'https://shop.example/ok?a=1&b=ä',
      cancel_url: 'https://shop.example/no',
      expires_at: '1790002160',
    });
  });

  it('asks again, with the same key, what may succeed then', async () => {
    answer = (response, attempt) =>
      attempt === 1
        ? respond(response, 409, { error: { type: 'idempotency_error', code: 'idempotency_key_in_use' } })
        : respond(response, 200, session);
    await provider().createSession(request);
    expect(received.length).toBe(2);
    expect(received[1]?.form).toEqual(received[0]?.form);
    expect(received[1]?.headers['idempotency-key']).toBe('tollgate-ord_1');
  });

  it.each<[string, typeof answer]>([
    ['a refusal', (response) => respond(response, 400, { error: { type: 'invalid_request_error' } })],
    ['a key that is wrong', (response) => respond(response, 401, { error: { message: 'Invalid API Key' } })],
    ['what is no JSON', (response) => response.end('<html>')],
    ['another amount', (response) => respond(response, 200, { ...session, amount_total: 1 })],
    ['another currency', (response) => respond(response, 200, { ...session, currency: 'eur' })],
    ['no page', (response) => respond(response, 200, { ...session, url: null })],
  ])('takes %s for a failure, at once', async (_what, reply) => {
    answer = reply;
    await expect(provider().createSession(request)).rejects.toThrow(PaymentProviderError);
    expect(received.length).toBe(1);
  });

  it('waits only so long, also for an answer that keeps trickling in', async () => {
    let trickle: NodeJS.Timeout | undefined;
    answer = (response) => {
      response.writeHead(200);
      trickle = setInterval(() => response.write(' '), 5);
    };
    await expect(provider(50).createSession(request)).rejects.toThrow('no response within 50 ms');
    clearInterval(trickle);
  });

  it('says nothing of the key', async () => {
    answer = (response) => response.destroy();
    const failure = await provider(3_000)
      .createSession(request)
      .then(String, (error: Error) => `${error.stack} ${String(error.cause)}`);
    expect(failure).not.toContain('sk_live_1');
  });
});
