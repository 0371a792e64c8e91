import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { ErrorBodySchema } from '@tollgate/contract';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Wire } from '../../testing/both-ways.js';
import { waitFor } from '../../testing/index.js';
import { createLog } from '../log/index.js';
import { createMetrics } from '../metrics/index.js';
import { type App, closeGracefully, createApp, Readiness } from './index.js';

let app: App;
let readiness: Readiness;
const isErrorBody = new Ajv().compile(ErrorBodySchema);
const publicly = { config: { access: { kind: 'public' } }, schema: { hide: true } } as const;
const GUARDED = {
  method: 'GET',
  url: '/guarded',
  config: { access: { kind: 'any-key' } },
  schema: { hide: true },
  handler: async () => ({}),
} as const;

beforeEach(async () => {
  readiness = new Readiness();
  app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    readiness,
    authenticator: { authenticate: (token) => (token === 'service' ? { kind: 'service' } : undefined) },
    projects: { resolveProject: () => undefined },
  });
});
afterEach(() => app.close());

describe('on a socket', () => {
  async function listen(): Promise<number> {
    await app.listen({ port: 0, host: '127.0.0.1' });
    return (app.server.address() as AddressInfo).port;
  }

  function rawAnswer(port: number, text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8');
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });
  }

  test.each<[string, string, number]>([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n', 400],
    [
      'two Hosts of no route',
      'GET /nowhere HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
    ],
    [
      'two Authorizations',
      'GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
      400,
    ],
    ['an unknown expectation', 'POST /healthz HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n', 417],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s gets an error in our shape', async (_what, text, status) => {
    const answer = await rawAnswer(await listen(), text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head.toLowerCase()).toContain('x-request-id:');
    expect(head.toLowerCase()).toContain('x-content-type-options: nosniff');
    expect(isErrorBody(JSON.parse(body))).toBe(true);
  });

  test.each(['/healthz', '/openapi.json', '/nowhere'])('no type of %s is to be guessed', async (path) => {
    expect((await get(await listen(), path)).headers['x-content-type-options']).toBe('nosniff');
  });

  test('an answer that has begun is sent whole before bytes that are no HTTP are refused', async () => {
    const stream = new PassThrough();
    app.route({
      ...publicly,
      method: 'GET',
      url: '/stream',
      handler: (_request, reply) => reply.header('content-length', 10).send(stream),
    });
    const wire = await Wire.open(await listen());
    await wire.write('GET /stream HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    stream.write('01234');
    await once(wire.socket, 'data');
    const refused = once(app.server, 'clientError');
    await wire.write('no chunk');
    await refused;
    stream.end('56789');
    expect(await wire.answer()).toMatchObject({ status: 200, body: '0123456789' });
    expect((await wire.answer())?.status).toBe(400);
    await wire.closed();
  });

  test('shutdown: not ready at once, in-flight requests finish, new ones are refused', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let arrived = () => {};
    const inFlight = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    app.route({
      ...publicly,
      method: 'GET',
      url: '/slow',
      handler: async () => {
        arrived();
        await finished;
        return { finished: true };
      },
    });
    app.route(GUARDED);
    const port = await listen();
    const slow = get(port, '/slow');
    await inFlight;
    readiness.beginShutdown();
    expect((await get(port, '/readyz')).status).toBe(503);
    const refused = await get(port, '/guarded', { authorization: 'Bearer service' });
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([503, 'shutting_down']);
    expect(refused.headers.connection).toBe('close');
    const closed = closeGracefully(app);
    finish();
    expect(JSON.parse((await slow).body)).toEqual({ finished: true });
    await closed;
    await expect(get(port, '/healthz')).rejects.toThrow('ECONNREFUSED');
  });

  test('drain: not ready, requests are served, and their connections end', async () => {
    app.route(GUARDED);
    const port = await listen();
    const wire = await Wire.open(port);
    const request = 'GET /guarded HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer service\r\n\r\n';
    await wire.write(request);
    const before = await wire.answer();
    expect([before?.status, before?.head]).toEqual([
      200,
      expect.stringMatching(/^connection: keep-alive\r$/im),
    ]);
    readiness.beginDrain();
    await wire.write(request);
    const last = await wire.answer();
    expect([last?.status, last?.head]).toEqual([200, expect.stringMatching(/^connection: close\r$/im)]);
    await wire.closed();
    expect(wire.error).toBeUndefined();
    for (const [path, status] of [
      ['/readyz', 503],
      ['/healthz', 200],
      ['/nowhere', 404],
    ] as const) {
      const answer = await Wire.exchange(port, Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`));
      expect([answer.status, answer.head]).toEqual([
        status,
        expect.stringMatching(/^connection: close\r$/im),
      ]);
    }
  });

  test('shutdown: an idle connection ends, and a request on its way does not reset it', async () => {
    const port = await listen();
    const taken = once(app.server, 'connection');
    const wire = await Wire.open(port, { allowHalfOpen: true });
    const [connection] = (await taken) as [Socket];
    const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    await wire.write(request);
    expect((await wire.answer())?.status).toBe(200);
    const ended = once(wire.socket, 'end');
    const closed = closeGracefully(app);
    await ended;
    await wire.write(request);
    await waitFor(() => connection.bytesRead === 2 * request.length);
    wire.socket.end();
    await closed;
    await wire.closed();
    expect(wire.error).toBeUndefined();
  });

  test('shutdown: a connection becomes idle after the response in progress, and ends', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let hasArrived = false;
    app.route({
      ...publicly,
      method: 'GET',
      url: '/slow',
      handler: async () => {
        hasArrived = true;
        await finished;
        return {};
      },
    });
    const wire = await Wire.open(await listen());
    await wire.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor(() => hasArrived);
    let isCut = false;
    app.cutConnections = () => {
      isCut = true;
    };
    const closed = closeGracefully(app);
    await waitFor(() => !app.server.listening);
    finish();
    expect((await wire.answer())?.status).toBe(200);
    await closed;
    expect([isCut, wire.error]).toEqual([false, undefined]);
  });

  test('shutdown: a connection whose client does not close its side is closed after a second', async () => {
    const wire = await Wire.open(await listen(), { allowHalfOpen: true });
    await wire.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await wire.answer();
    let isCut = false;
    app.cutConnections = () => {
      isCut = true;
    };
    await closeGracefully(app);
    expect(isCut).toBe(false);
    wire.socket.destroy();
  });

  test('shutdown: what does not finish is cut after the deadline', async () => {
    let arrived = () => {};
    const inFlight = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    app.route({
      ...publicly,
      method: 'GET',
      url: '/stuck',
      handler: async () => {
        arrived();
        await new Promise(() => {});
      },
    });
    const stuck = get(await listen(), '/stuck').catch((error: Error) => error.message);
    await inFlight;
    await closeGracefully(app, 50);
    expect(await stuck).toBe('socket hang up');
  });

  function get(port: number, path: string, headers: Record<string, string> = {}) {
    return new Promise<{ status: number | undefined; body: string; headers: NodeJS.Dict<string | string[]> }>(
      (resolve, reject) => {
        const request = httpRequest({ port, path, headers, agent: false }, (response) => {
          let body = '';
          response.setEncoding('utf8');
          response.on('data', (chunk) => {
            body += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode, body, headers: response.headers }));
        });
        request.on('error', reject);
        request.end();
      },
    );
  }
});
