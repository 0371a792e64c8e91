import { EventEmitter, once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { createLog } from '../log/index.js';
import { createMetrics, type Metrics } from '../metrics/index.js';
import { ConnectionLimit, SURPLUS_CONNECTIONS_MAX } from './connection-limit.js';
import { type App, closeGracefully, createApp } from './index.js';

const CONNECTIONS_MAX = 2;

describe.each([
  ['with the express lane', true],
  ['without the express lane', false],
])('connections of a server %s', (_name, expressLane) => {
  let app: App;
  let port: number;
  let metrics: Metrics;
  const logged: string[] = [];
  const open: Socket[] = [];
  /** Ends the requests of /held. */
  const releases: (() => void)[] = [];

  beforeEach(async () => {
    logged.length = 0;
    metrics = createMetrics();
    app = await createApp({
      log: createLog({ level: 'warn', destination: { write: (line: string) => logged.push(line) } as never }),
      metrics,
      connectionsMax: CONNECTIONS_MAX,
      expressLane,
      authenticator: { authenticate: () => ({ kind: 'service' }) },
      projects: { resolveProject: () => undefined },
    });
    app.route({
      method: 'GET',
      url: '/guarded',
      config: { access: { kind: 'any-key' } },
      schema: { hide: true },
      handler: async () => ({}),
    });
    app.route({
      method: 'POST',
      url: '/held',
      config: { access: { kind: 'any-key' } },
      schema: { hide: true },
      handler: async () => {
        await new Promise<void>((resolve) => releases.push(resolve));
        return {};
      },
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    ({ port } = app.server.address() as AddressInfo);
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    for (const release of releases.splice(0)) release();
    await app.close();
  });

  /** Opens connections that send a text, and waits until the server counts them. */
  async function occupy(count: number, text = ''): Promise<void> {
    const before = await openConnections();
    for (let at = 0; at < count; at++) {
      const socket = connect(port, '127.0.0.1').resume();
      socket.on('error', () => {}).write(text);
      open.push(socket);
    }
    await waitFor(async () => (await openConnections()) === before + count);
  }

  /** Opens connections whose requests are in progress. */
  async function hold(count: number): Promise<void> {
    const before = releases.length;
    await occupy(count, head('/held'));
    await waitFor(() => releases.length === before + count);
  }

  function head(path: string, bodyBytes = 0): string {
    return `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
  }

  async function openConnections(): Promise<number> {
    return Number(/^tollgate_http_connections (\d+)$/m.exec(await metrics.metrics())?.[1]);
  }

  /** Sends a request on a connection of its own, which is kept open. */
  async function ask(path: string) {
    const sent = request({
      port,
      path,
      agent: new Agent({ keepAlive: true }),
      headers: { authorization: 'Bearer x' },
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode: status, headers } = response;
    return {
      status,
      connection: headers.connection,
      retryAfter: headers['retry-after'],
      text: await text(response),
    };
  }

  test('are served up to the limit', async () => {
    await hold(CONNECTIONS_MAX - 1);
    expect(await ask('/guarded')).toMatchObject({ status: 200, connection: 'keep-alive' });
    expect(logged).toEqual([]);
  });

  test('past it get one response that says so, while health is still served; one line a minute is logged', async () => {
    await hold(CONNECTIONS_MAX);
    const refused = await ask('/guarded');
    expect(refused).toMatchObject({ status: 503, connection: 'close', retryAfter: expect.any(String) });
    expect(JSON.parse(refused.text).code).toBe('server_busy');
    expect(await ask('/healthz')).toMatchObject({ status: 200, connection: 'close' });
    expect(logged.length).toBe(1);
    expect(logged[0]).toContain('the limit of open files allows no more');
    expect(await metrics.metrics()).toContain('tollgate_http_connections_refused_total 2');
    open.pop()?.destroy();
    await waitFor(async () => (await openConnections()) === CONNECTIONS_MAX - 1);
    expect((await ask('/guarded')).status).toBe(200);
  });

  test.each([
    ['send nothing', () => ''],
    ['have sent half a head', () => 'POST /held HTTP/1.1\r\nHost: x\r\n'],
    ['have sent half a body', () => head('/held', 10)],
    ['have their response', () => head('/nowhere')],
  ])('whose clients %s give way to new ones, and those in progress do not', async (_what, text) => {
    await hold(1);
    await occupy(CONNECTIONS_MAX - 1, text());
    const [held, waiting] = open as [Socket, Socket];
    const ended = once(waiting, 'close');
    expect(await ask('/guarded')).toMatchObject({ status: 200, connection: 'keep-alive' });
    await ended;
    expect(held.closed).toBe(false);
    expect(await metrics.metrics()).toContain('tollgate_http_connections_ended_total 1');
    expect(await metrics.metrics()).toContain('tollgate_http_connections_refused_total 0');
    expect(logged).toEqual([]);
  });
});

test('connections that are passed to another process do not hold up the end', async () => {
  let isPassed = false;
  const app = await createApp({
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    authenticator: { authenticate: () => ({ kind: 'service' }) },
    projects: { resolveProject: () => undefined },
    // The other process never confirms it.
    handOver: () => {
      isPassed = true;
    },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  const closed = once(socket, 'close');
  socket.resume().write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await waitFor(() => isPassed);
  await closeGracefully(app, 20);
  await closed;
});

test('a surplus connection ends after a while, whatever it does', () => {
  vi.useFakeTimers();
  const limit = new ConnectionLimit({
    connectionsMax: 0,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
  });
  const socket = Object.assign(new EventEmitter(), { destroy: vi.fn() });
  expect([limit.admit(socket as never), limit.isSurplus(socket as never)]).toEqual([true, true]);
  vi.advanceTimersByTime(5_000);
  expect(socket.destroy).toHaveBeenCalledOnce();
  vi.useRealTimers();
});

test('a connection that another process passed is closed when it is past the surplus', async () => {
  const limit = new ConnectionLimit({
    connectionsMax: 1,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
  });
  const connect = () => Object.assign(new EventEmitter(), { destroy: vi.fn() });
  const open = Array.from({ length: 1 + SURPLUS_CONNECTIONS_MAX }, connect);
  for (const socket of open) {
    expect(limit.admit(socket as never)).toBe(true);
    limit.begun(socket as never);
  }
  const late = connect();
  expect(limit.admit(late as never)).toBe(false);
  expect(late.destroy).toHaveBeenCalledOnce();
  const closed = limit.closed();
  for (const socket of open) socket.emit('close');
  await closed;
  expect(limit.admit(late as never)).toBe(true);
  late.emit('close');
});
