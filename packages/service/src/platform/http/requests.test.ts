import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../log/index.js';
import { createMetrics } from '../metrics/index.js';
import type { TracedRequest } from '../tracing/index.js';
import { type App, createApp } from './index.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

let app: App;
/** The requests whose spans have begun, with their status once they have ended. */
let spans: (TracedRequest & { status?: number })[];

beforeEach(async () => {
  spans = [];
  app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    authenticator: { authenticate: () => undefined },
    projects: { resolveProject: () => undefined },
    tracing: {
      beginRequest(request) {
        // The sampler drops it.
        if (request.fields.traceparent?.endsWith('00') === true) return undefined;
        const span: (typeof spans)[number] = { ...request };
        spans.push(span);
        return {
          traceparent: TRACEPARENT,
          begin: () => ({ end: () => {} }),
          end: (status) => {
            span.status = status;
          },
        };
      },
      record: () => {},
      close: async () => {},
    },
  });
  const config = { access: { kind: 'public' } } as const;
  const schema = { hide: true };
  app.get('/v1/things/:id', { config, schema }, async ({ span }) => ({ isTraced: span !== undefined }));
  app.get('/v1/keyed', { config: { access: { kind: 'any-key' } }, schema }, async () => ({}));
  app.get('/v1/long', { config: { ...config, isLong: true }, schema }, async (_request, reply) => {
    const body = new PassThrough();
    body.end('part');
    return reply.type('text/event-stream').send(body);
  });
});
afterEach(() => app.close());

test('a request has a span from its head to its response, by the route', async () => {
  const headers = { traceparent: TRACEPARENT, tracestate: 'a=1', 'x-request-id': 'mine' };
  const answer = await app.inject({ url: '/v1/things/secret?also=secret', headers });
  expect(answer.json()).toEqual({ isTraced: true });
  expect(spans).toEqual([
    {
      method: 'GET',
      route: '/v1/things/:id',
      requestId: 'mine',
      fields: { traceparent: TRACEPARENT, tracestate: 'a=1' },
      status: 200,
    },
  ]);
});

test('a refused request has a span too', async () => {
  await app.inject('/v1/keyed');
  expect(spans).toMatchObject([{ route: '/v1/keyed', status: 401 }]);
});

test('a request that is not sampled has none', async () => {
  const headers = { traceparent: TRACEPARENT.replace(/01$/, '00') };
  expect((await app.inject({ url: '/v1/things/1', headers })).json()).toEqual({ isTraced: false });
});

test.each(['/healthz', '/readyz', '/metrics', '/v1/long', '/nowhere'])('%s has none', async (url) => {
  await app.inject(url);
  expect(spans).toEqual([]);
});
